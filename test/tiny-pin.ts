/** A pin of a ten-line program that compiles in a second, for tests of building. */
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ProgramPin } from '../src/sandbox/programs.ts'

export const tinyTable = {
  hello: { pin: 'tiny', package: 'example.org/tiny/hello', asset: 'hello' },
} satisfies Record<string, ProgramPin>

/** Writes the pin below `pins`; returns the path of its only source file. */
export async function writeTinyPin(pins: string): Promise<string> {
  const pin = path.join(pins, 'tiny')
  const source = path.join(pin, 'hello', 'main.go')
  await mkdir(path.dirname(source), { recursive: true })
  await writeFile(path.join(pin, 'go.mod'), 'module example.org/tiny\n\ngo 1.21\n')
  await writeFile(path.join(pin, 'go.sum'), '')
  await writeFile(
    source,
    // Different each time, so that no build cache has it.
    `package main\n\nimport "os"\n\n// ${randomUUID()}\nfunc main() { os.Stdout.WriteString("hello\\n") }\n`,
  )
  return source
}
