"""What strangers send is opened in a process of its own, within bounds, or not at all.

``opening`` starts that process and believes little of what it says; ``opener`` is what runs in it.
"""
