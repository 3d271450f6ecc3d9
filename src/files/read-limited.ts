/** Reads a file or a stream up to a size: a device or a pipe may never end. */
import { createReadStream } from 'node:fs'

/** Undefined when there is more than the limit; throws what the file system throws. */
export async function readLimited(
  source: string | NodeJS.ReadableStream,
  limitBytes: number,
): Promise<Buffer | undefined> {
  const stream = typeof source === 'string' ? createReadStream(source) : source
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    const part = Buffer.from(chunk as Uint8Array | string)
    bytes += part.length
    if (bytes > limitBytes) return undefined
    chunks.push(part)
  }
  return Buffer.concat(chunks)
}
