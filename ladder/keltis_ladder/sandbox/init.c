/* The first process of a sandbox: starts the program, and tells truly how it ended.
 *
 *   init watch STATUS INPUT OUTPUT COMMAND...    as process 1, which stays
 *   init run STATUS PROGRAM [ARGUMENT...]        the end of COMMAND, without any privileges by then
 *
 * STATUS, INPUT and OUTPUT are numbers of pipes. The command gets INPUT and OUTPUT as its standard
 * input and output; nobody else keeps them, so that a program which closes its output is seen to do
 * so. Bubblewrap's own init would hold them open, and tells an exit code above 128 and a signal alike.
 *
 * Written to STATUS, each as one byte for its kind and four for a number, least significant first:
 *   'f' errno   no process could be had for the command: the machine's fault
 *   'r' 0       all privileges are given up, and the program is about to be executed
 *   'x' errno   it could not be executed: the bot's fault
 *   'e' status  it ended; the status as wait() has it
 *
 * As process 1 of its namespace it gets no signal from inside that it does not handle, and it
 * handles none; as root it is also another user than the program, which has no descriptor of STATUS:
 * the program can neither end it nor speak for it. It stays the user that bubblewrap is, or the
 * kernel would not let bubblewrap's death be its own. It needs no C library, and is built for both
 * architectures by `make sandbox-init`, which writes it to init.py.
 */

typedef long word;

#if defined(__x86_64__)
enum { WRITE = 1, FCNTL = 72, DUP3 = 292, CLOSE = 3, CLONE = 56, EXECVE = 59, EXIT = 231, WAIT4 = 61, CAPSET = 126 };

static word call(word number, word a, word b, word c, word d, word e) {
    word result;
    register word r10 __asm__("r10") = d;
    register word r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin\n");
#elif defined(__aarch64__)
enum { WRITE = 64, FCNTL = 25, DUP3 = 24, CLOSE = 57, CLONE = 220, EXECVE = 221, EXIT = 94, WAIT4 = 260, CAPSET = 91 };

static word call(word number, word a, word b, word c, word d, word e) {
    register word x8 __asm__("x8") = number;
    register word x0 __asm__("x0") = a;
    register word x1 __asm__("x1") = b;
    register word x2 __asm__("x2") = c;
    register word x3 __asm__("x3") = d;
    register word x4 __asm__("x4") = e;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
}

__asm__(".globl _start\n_start:\n\tmov x29, 0\n\tmov x0, sp\n\tb begin\n");
#else
#error "the sandbox knows x86_64 and aarch64 only"
#endif

enum { ENOENT = 2, EINTR = 4, EACCES = 13, ENOTDIR = 20, ENAMETOOLONG = 36 };
enum { SIGCHLD = 17, F_SETFD = 2, FD_CLOEXEC = 1, CAPABILITY_VERSION_3 = 0x20080522 };
enum { LONGEST_PATH = 4096 };

static void leave(word code) {
    for (;;) call(EXIT, code, 0, 0, 0, 0);
}

static void tell(word status, char kind, word number) {
    char message[5];
    message[0] = kind;
    for (int i = 0; i < 4; i++) message[1 + i] = (char)(number >> (8 * i));
    call(WRITE, status, (word)message, sizeof message, 0, 0);
}

static word parse(const char *text) {
    word number = 0;
    while (*text) number = 10 * number + (*text++ - '0');
    return number;
}

static const char *path_of(char **environment) {
    for (; *environment; environment++) {
        const char *entry = *environment;
        if (entry[0] == 'P' && entry[1] == 'A' && entry[2] == 'T' && entry[3] == 'H' && entry[4] == '=')
            return entry + 5;
    }
    return "/usr/bin:/bin";
}

/* Execute a program as execvp() does; return why that was not possible. */
static word execute(char **arguments, char **environment) {
    const char *name = arguments[0];
    for (const char *letter = name; *letter; letter++)
        if (*letter == '/') return -call(EXECVE, (word)name, (word)arguments, (word)environment, 0, 0);
    word reason = ENOENT;
    const char *path = path_of(environment);
    for (;;) {
        char candidate[LONGEST_PATH];
        word length = 0, fits = 1;
        while (*path && *path != ':') {
            if (length < LONGEST_PATH - 2) candidate[length++] = *path; else fits = 0;
            path++;
        }
        if (length) candidate[length++] = '/';
        for (const char *letter = name; *letter; letter++) {
            if (length < LONGEST_PATH - 1) candidate[length++] = *letter; else fits = 0;
        }
        candidate[length] = 0;
        if (fits) {
            word error = -call(EXECVE, (word)candidate, (word)arguments, (word)environment, 0, 0);
            if (error == EACCES) reason = EACCES;
            else if (error != ENOENT && error != ENOTDIR && error != ENAMETOOLONG) return error;
        }
        if (!*path) return reason;
        path++;
    }
}

static void give_up_capabilities(void) {
    unsigned header[2] = {CAPABILITY_VERSION_3, 0};
    unsigned none[6] = {0, 0, 0, 0, 0, 0};
    call(CAPSET, (word)header, (word)none, 0, 0, 0);
}

static void run(word status, char **command, char **environment) {
    call(FCNTL, status, F_SETFD, FD_CLOEXEC, 0, 0);
    tell(status, 'r', 0);
    word error = execute(command, environment);
    tell(status, 'x', error);
    leave(error == ENOENT ? 127 : 126);
}

static void watch(word status, word input, word output, char **command, char **environment) {
    word child = call(CLONE, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        call(DUP3, input, 0, 0, 0, 0);
        call(DUP3, output, 1, 0, 0, 0);
        call(CLOSE, input, 0, 0, 0, 0);
        call(CLOSE, output, 0, 0, 0, 0);
        execute(command, environment);
        leave(126);
    }
    give_up_capabilities();
    if (child < 0) {
        tell(status, 'f', -child);
        leave(1);
    }
    for (word fd = 0; fd < 3; fd++) call(CLOSE, fd, 0, 0, 0, 0);
    call(CLOSE, input, 0, 0, 0, 0);
    call(CLOSE, output, 0, 0, 0, 0);
    for (;;) {
        int how = 0;
        word ended = call(WAIT4, -1, (word)&how, 0, 0, 0);
        if (ended == child) {
            tell(status, 'e', how);
            leave(how & 127 ? 128 + (how & 127) : how >> 8);
        }
        if (ended < 0 && ended != -EINTR) leave(1);
    }
}

__attribute__((noreturn, used)) void begin(word *stack) {
    word count = stack[0];
    char **arguments = (char **)(stack + 1);
    char **environment = arguments + count + 1;
    if (count > 3 && arguments[1][0] == 'r')
        run(parse(arguments[2]), arguments + 3, environment);
    else if (count > 5 && arguments[1][0] == 'w')
        watch(parse(arguments[2]), parse(arguments[3]), parse(arguments[4]), arguments + 5, environment);
    for (;;) leave(2);
}
