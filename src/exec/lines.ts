/** A stream of bytes as lines: split characters are joined, `\r\n` and a last line without an end count too. */
import { StringDecoder } from 'node:string_decoder'

export interface LineReader {
  readonly push: (chunk: Buffer) => void
  readonly end: () => void
}

export function createLineReader(onLine: (line: string) => void): LineReader {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const take = (text: string): void => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  return {
    push: (chunk) => take(decoder.write(chunk)),
    end: () => {
      take(decoder.end())
      if (rest) onLine(rest)
      rest = ''
    },
  }
}
