# Plays the first legal action. It knows where a request has its id and its legal actions.
proc take(size: int): string =
  result = newString(size)
  if size > 0 and stdin.readBuffer(addr result[0], size) < size: quit(0)

proc sizeOf(head: char): int =
  case ord(head)
  of 0xcc: 2
  of 0xcd: 3
  of 0xce: 5
  else: 1

proc send(payload: string) =
  let size = payload.len
  stdout.write("\0\0" & chr(size shr 8) & chr(size and 255) & payload)
  stdout.flushFile()

while true:
  var size = 0
  for letter in take(4): size = size * 256 + ord(letter)
  let message = take(size)
  case message[7 .. 11]
  of "hello":
    send("\x83\xa4type\xa5hello\xa8protocol\x01\xa4name\xa1x")
  of "choos":
    let width = sizeOf(message[16])
    var at = 16 + width + 6 # behind the word "legal"
    at += (if ord(message[at]) == 0xdc: 3 else: 1)
    let action = message[at ..< at + sizeOf(message[at])]
    send("\x83\xa4type\xa6action\xa2id" & message[16 ..< 16 + width] & "\xa6action" & action)
  else: discard
