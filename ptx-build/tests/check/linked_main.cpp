// The program of a library, whose `main` has another name.
int run(int count, char **words);

int main(int count, char **words) { return run(count, words); }
