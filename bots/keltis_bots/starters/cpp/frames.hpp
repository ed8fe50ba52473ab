// Frames: a length of four bytes, big endian, then that many bytes of msgpack.
#pragma once

#include <unistd.h>

#include <stdexcept>
#include <string>

#include "msgpack.hpp"

// Fill `bytes` from a pipe; false if the other end was closed.
inline bool read_all(int fd, std::string& bytes) {
    for (size_t have = 0; have < bytes.size();) {
        const ssize_t got = read(fd, &bytes[have], bytes.size() - have);
        if (got <= 0) return false;
        have += static_cast<size_t>(got);
    }
    return true;
}

inline bool read_frame(int fd, msgpack::Value& message) {
    std::string head(4, '\0');
    if (!read_all(fd, head)) return false;
    size_t length = 0;
    for (unsigned char byte : head) length = length << 8 | byte;
    std::string payload(length, '\0');
    if (!read_all(fd, payload)) return false;
    message = msgpack::unpack(payload);
    return true;
}

inline void write_frame(int fd, const msgpack::Value& message) {
    const std::string payload = msgpack::pack(message);
    std::string bytes;
    msgpack::put_number(bytes, payload.size(), 4);
    bytes += payload;
    for (size_t sent = 0; sent < bytes.size();) {
        const ssize_t done = write(fd, &bytes[sent], bytes.size() - sent);
        if (done < 0) throw std::runtime_error("stdout was closed");
        sent += static_cast<size_t>(done);
    }
}
