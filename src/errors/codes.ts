/** The code of every finding: what a site or a lab may accept. The catalogue with its texts is slower to load. */
import { readData } from '../data/data.ts'

export const codes: ReadonlySet<string> = new Set(JSON.parse(readData('finding-codes.json')) as readonly string[])
