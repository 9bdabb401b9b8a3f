/* Linked with every object of sim/ and none of models/: that it links is the test (see tests/CMakeLists.txt). */
int main(void)
{
    return 0;
}
