// @ts-check
// The token of an author: kept in this tab only, and sent only to where the page came from.

const KEY = "token";

export function token() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return kept;
  }
}

/** @type {string | null} */
let kept = null; // where storage is switched off

/** @param {string | null} text */
export function remember(text) {
  kept = text;
  try {
    if (text === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, text);
  } catch {
    // It holds for this page, then.
  }
}

/** A request that was answered with a problem; its message says what to do. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} detail
   */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/**
 * Ask the API, as the owner of the token.
 *
 * @param {string} path
 * @param {Omit<RequestInit, "headers"> & {headers?: Record<string, string>}} [options]
 * @returns {Promise<any>}
 */
export async function ask(path, options = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json", ...options.headers };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  const response = await fetch(`/api/v1${path}`, { ...options, headers });
  const plain = await response.json();
  if (!response.ok) throw new Refused(response.status, plain.detail ?? response.statusText);
  return plain;
}
