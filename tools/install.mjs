// Installs the npm packages when the installed ones differ from the lock file, regardless of file times.
// Plain JavaScript, because it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** Compares npm's record of the last install with the lock file. Optional packages may be absent. */
export function isOutdated(lock, installed) {
  const { '': _root, ...locked } = lock.packages
  const names = new Set([...Object.keys(locked), ...Object.keys(installed.packages)])
  return [...names].some((name) => {
    const present = installed.packages[name]
    const absent = present === undefined && locked[name]?.optional
    return !absent && present?.version !== locked[name]?.version
  })
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { packages: {} }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  // npm writes this file last, so an interrupted install is repeated.
  if (isOutdated(read('package-lock.json'), read('node_modules/.package-lock.json'))) {
    const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], { stdio: ['ignore', 'inherit', 'inherit'] })
    process.exitCode = status ?? 1
  }
}
