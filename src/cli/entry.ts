/** Where the built program starts. */
import { run } from './main.ts'

await run()
