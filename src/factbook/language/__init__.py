"""What is known of languages as such: words and their forms, lists, names of places."""
