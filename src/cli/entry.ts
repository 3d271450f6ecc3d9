/** Starts the program: the entry of the build. */
import { run } from './main.ts'

void run()
