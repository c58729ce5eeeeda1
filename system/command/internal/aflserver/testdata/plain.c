/* A program without a fork server. */
int main(void) { return 0; }
