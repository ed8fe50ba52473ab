"""The benchmarks that come with the command."""
