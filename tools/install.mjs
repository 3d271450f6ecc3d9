// Installs the npm packages when those that are there are not those of the lock file, whatever the clock says.
// Plain JavaScript: it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** Whether what npm noted down at the last install differs from the lock file. Optional packages may be absent. */
export function outdated(lock, installed) {
  const { '': _root, ...wanted } = lock.packages
  const names = new Set([...Object.keys(wanted), ...Object.keys(installed.packages)])
  return [...names].some((name) => {
    const there = installed.packages[name]
    const absent = there === undefined && wanted[name]?.optional
    return !absent && there?.version !== wanted[name]?.version
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
  // npm writes this file last, so an install that was cut off is repeated.
  if (outdated(read('package-lock.json'), read('node_modules/.package-lock.json'))) {
    const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], { stdio: ['ignore', 'inherit', 'inherit'] })
    process.exitCode = status ?? 1
  }
}
