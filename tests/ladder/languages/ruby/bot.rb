# Plays the first legal action. It knows where a request has its id and its legal actions.
$stdin.binmode
$stdout.binmode
$stdout.sync = true

def take(size)
  data = $stdin.read(size)
  exit if data.nil? || data.bytesize < size
  data
end

def size_of(head) = { 0xcc => 2, 0xcd => 3, 0xce => 5 }.fetch(head, 1)

def send_frame(payload) = $stdout.write([payload.bytesize].pack("N") + payload)

loop do
  message = take(take(4).unpack1("N"))
  kind = message.byteslice(7, 6)
  if kind.start_with?("hello")
    send_frame("\x83\xA4type\xA5hello\xA8protocol\x01\xA4name\xA1x".b)
  elsif kind == "choose"
    size = size_of(message.getbyte(16))
    at = 16 + size + 6 # behind the word "legal"
    at += message.getbyte(at) == 0xdc ? 3 : 1
    action = message.byteslice(at, size_of(message.getbyte(at)))
    id = message.byteslice(16, size)
    send_frame("\x83\xA4type\xA6action\xA2id".b + id + "\xA6action".b + action)
  end
end
