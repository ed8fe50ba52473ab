// Plays the first legal action. It knows where a request has its id and its legal actions.
using System;
using System.IO;
using System.Text;

public class Bot
{
    static readonly Stream input = Console.OpenStandardInput();
    static readonly Stream output = Console.OpenStandardOutput();
    static readonly Encoding latin = Encoding.GetEncoding(28591);

    static string Take(int size)
    {
        var data = new byte[size];
        for (int have = 0, more; have < size; have += more)
            if ((more = input.Read(data, have, size - have)) <= 0) Environment.Exit(0);
        return latin.GetString(data);
    }

    static int SizeOf(char head)
    {
        return head == 0xcc ? 2 : head == 0xcd ? 3 : head == 0xce ? 5 : 1;
    }

    static void Send(string payload)
    {
        var frame = latin.GetBytes("\0\0\0" + (char)payload.Length + payload);
        output.Write(frame, 0, frame.Length);
        output.Flush();
    }

    public static void Main()
    {
        while (true)
        {
            int length = 0;
            foreach (char letter in Take(4)) length = length * 256 + letter;
            string message = Take(length), kind = message.Substring(7, 5);
            if (kind == "hello")
                Send("\u0083\u00a4type\u00a5hello\u00a8protocol\u0001\u00a4name\u00a1x");
            if (kind != "choos") continue;
            int size = SizeOf(message[16]), at = 16 + size + 6; // behind the word "legal"
            at += message[at] == 0xdc ? 3 : 1;
            string action = message.Substring(at, SizeOf(message[at]));
            Send("\u0083\u00a4type\u00a6action\u00a2id" + message.Substring(16, size) + "\u00a6action" + action);
        }
    }
}
