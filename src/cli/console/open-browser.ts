/** Opens the one-time link of the console in the default browser, without showing it to other users of the machine. */
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runProcess, succeeded } from '../../exec/process.ts'
import type { Io } from '../io.ts'

export interface LinkOpener {
  readonly open: (url: string) => Promise<void>
  /** The link was used, or the console ends: removes the page that has it. */
  readonly forget: () => void
}

/**
 * Other users can read the arguments of a program, but not a page of mode 0600 that leads to the link. It is in the home
 * folder and has a visible name: a browser from a snap reads no other file.
 */
export function createLinkOpener(io: Io): LinkOpener {
  const page = path.join(io.env['HOME'] ?? tmpdir(), `stackloom-console-${randomUUID().slice(0, 8)}.html`)
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const isOpened = async (url: string): Promise<boolean> => {
    try {
      writeFileSync(page, formatPage(url), { mode: 0o600, flag: 'wx' })
    } catch {
      return false
    }
    return succeeded((await runProcess({ file: program, args: [page], env: io.env }, { signal: io.stop })).exit)
  }
  return {
    open: async (url) => {
      const opened = await isOpened(url)
      // A console that is stopped ends the program that it started.
      if (!opened && !io.stop.aborted) io.stderr('no browser could be opened: copy the link\n')
    },
    forget: () => rmSync(page, { force: true }),
  }
}

function formatPage(url: string): string {
  const refresh = `<meta http-equiv="refresh" content="0; url=${url}">`
  return `<!doctype html><meta charset="utf-8"><title>Stackloom</title>${refresh}\n`
}
