(* Plays the first legal action. It knows where a request has its id and its legal actions. *)
let take size = try really_input_string stdin size with End_of_file -> exit 0

let size_of head = match Char.code head with 0xcc -> 2 | 0xcd -> 3 | 0xce -> 5 | _ -> 1

let send payload =
  let prefix = Bytes.create 4 in
  Bytes.set_int32_be prefix 0 (Int32.of_int (String.length payload));
  print_string (Bytes.to_string prefix ^ payload);
  flush stdout

let answer message =
  let size = size_of message.[16] in
  let at = 16 + size + 6 in (* behind the word "legal" *)
  let at = at + if message.[at] = '\xdc' then 3 else 1 in
  let action = String.sub message at (size_of message.[at]) in
  send ("\x83\xa4type\xa6action\xa2id" ^ String.sub message 16 size ^ "\xa6action" ^ action)

let () =
  set_binary_mode_in stdin true;
  set_binary_mode_out stdout true;
  while true do
    let message = take (Int32.to_int (String.get_int32_be (take 4) 0)) in
    match String.sub message 7 5 with
    | "hello" -> send "\x83\xa4type\xa5hello\xa8protocol\x01\xa4name\xa1x"
    | "choos" -> answer message
    | _ -> ()
  done
