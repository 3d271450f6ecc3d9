import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { removeSockets } from './node-files.ts'
import { nodeSocket } from './node-layout.ts'

const folder = useFolder()

describe('removeSockets', () => {
  it('removes sockets outside of the folder, whose path is too long, and keeps the files beside the nodes', async () => {
    const nodes = path.join(folder, 'a-long-name-of-a-sandbox-'.repeat(5), 'nodes')
    const node = path.join(nodes, 'worker-0')
    const file = path.join(nodes, 'Corefile')
    await mkdir(node, { recursive: true })
    await writeFile(file, '')
    const socket = nodeSocket(node)
    expect(socket.startsWith(nodes)).toBe(false)
    await writeFile(socket, '')
    try {
      await removeSockets({ nodes })
      expect([socket, file].map(existsSync)).toEqual([false, true])
    } finally {
      await rm(socket, { force: true })
    }
  })

  it('accepts a sandbox that never had nodes', async () => {
    await expect(removeSockets({ nodes: path.join(folder, 'absent') })).resolves.toBeUndefined()
  })
})
