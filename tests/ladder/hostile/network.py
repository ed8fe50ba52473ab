"""Looks for somebody to talk to."""

import socket

from common import attempt, reply, requests, write


def listen():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind(("127.0.0.1", 0))


for request in requests():
    if not request["first"]:
        write(reply(request))
        continue
    for name in ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"):
        attempt(name, lambda family=name: socket.socket(getattr(socket, family), socket.SOCK_DGRAM))
    attempt("a listening socket", listen)
    attempt("the referee's ports", lambda: socket.create_connection(("127.0.0.1", 8080), 0.2))
    write(reply(request))
