// @ts-check
// The page of a match, and the frame of one on another page.

import { Viewer } from "../viewer/viewer.js";

const root = document.getElementById("viewer");
const told = document.getElementById("match");
if (root && told) new Viewer(root, JSON.parse(told.textContent));
