/** Plans the site file for the console, and again whenever it or its lock changes. */
import { existsSync, unwatchFile, watchFile } from 'node:fs'
import path from 'node:path'
import type { PlannedSite } from '../../console/views/view-input.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import { planFromFiles } from '../planning.ts'
import { SITE_FILE } from '../site-file.ts'

export interface SiteSource {
  readonly read: () => Promise<PlannedSite>
  /** Options that name the file, for commands to copy. */
  readonly options: readonly string[]
  /** Namespaces of the clouds as planned last. */
  readonly namespaces: () => readonly string[]
  readonly close: () => void
}

interface SiteOptions {
  readonly file: string
  readonly lock?: string
}

/** Polls, because editors replace files in ways that watches of a folder miss. */
const POLL_MS = 500

/** Undefined without a site file: the default one need not exist. */
export function openSiteSource({ file, lock }: SiteOptions, io: Io, changed: () => void): SiteSource | undefined {
  const absolute = path.resolve(io.cwd, file)
  if (file === SITE_FILE && !existsSync(absolute)) return undefined
  let namespaces: readonly string[] = []
  const watched = new Set<string>()
  const watch = (target: string): void => {
    if (watched.has(target)) return
    watched.add(target)
    watchFile(target, { interval: POLL_MS, persistent: false }, changed)
  }
  watch(absolute)
  return {
    read: async () => {
      const planning = await planFromFiles({ file, ...(lock !== undefined && { lock }) }, io)
      const { plan, before, lockFile, locate } = planning
      if (lockFile !== undefined) watch(path.resolve(io.cwd, lockFile))
      namespaces = plan.clouds.map(({ namespace }) => namespace)
      const lines = Buffer.from(await readInput(file, io))
        .toString('utf8')
        .split('\n')
      return { plan, before, lock: planning.lock, file, lockFile, locate, lines }
    },
    options: ['-f', file, ...(lock === undefined ? [] : ['--lock', lock])],
    namespaces: () => namespaces,
    close: () => {
      for (const target of watched) unwatchFile(target, changed)
    },
  }
}
