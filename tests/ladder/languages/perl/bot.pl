# Plays the first legal action. It knows where a request has its id and its legal actions.
use strict;
use warnings;

binmode STDIN;
binmode STDOUT;
$| = 1;

sub take {
    my ($size) = @_;
    my $data = "";
    while (length($data) < $size) {
        sysread(STDIN, $data, $size - length($data), length($data)) or exit 0;
    }
    return $data;
}

sub size_of {
    my ($head) = @_;
    return $head == 0xcc ? 2 : $head == 0xcd ? 3 : $head == 0xce ? 5 : 1;
}

sub send_frame { syswrite(STDOUT, pack("N", length($_[0])) . $_[0]) }

while (1) {
    my $message = take(unpack("N", take(4)));
    my $kind = substr($message, 7, 6);
    if ($kind =~ /^hello/) {
        send_frame("\x83\xa4type\xa5hello\xa8protocol\x01\xa4name\xa1x");
    } elsif ($kind eq "choose") {
        my $size = size_of(ord(substr($message, 16, 1)));
        my $at = 16 + $size + 6;    # behind the word "legal"
        $at += ord(substr($message, $at, 1)) == 0xdc ? 3 : 1;
        my $action = substr($message, $at, size_of(ord(substr($message, $at, 1))));
        my $id = substr($message, 16, $size);
        send_frame("\x83\xa4type\xa6action\xa2id$id\xa6action$action");
    }
}
