"""The check: may this bot join the ladder?"""
