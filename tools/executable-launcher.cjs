// The main script of the single executable: unpacks the package into the user's cache once, and starts it from there.
// Plain CommonJS, because Node runs nothing else from within an executable. It may use built-in modules only.
const { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { createRequire, enableCompileCache } = require('node:module')
const { homedir, tmpdir } = require('node:os')
const path = require('node:path')
const sea = require('node:sea')

const { key, files } = JSON.parse(sea.getAsset('files.json', 'utf8'))

function unpack(folder) {
  for (const name of files) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, new Uint8Array(sea.getRawAsset(name)))
  }
}

/** A folder that has this name is complete: it got the name at the end. */
function packageFolder() {
  const cache = process.env.XDG_CACHE_HOME
  const parent = path.join(
    cache && path.isAbsolute(cache) ? cache : path.join(process.env.HOME || homedir(), '.cache'),
    'stackloom',
  )
  const folder = path.join(parent, `executable-${key}`)
  if (existsSync(folder)) return folder
  try {
    mkdirSync(parent, { recursive: true })
    const temporary = mkdtempSync(path.join(parent, '.unpacking-'))
    unpack(temporary)
    try {
      renameSync(temporary, folder)
    } catch (error) {
      rmSync(temporary, { recursive: true, force: true })
      // Another process was faster.
      if (!existsSync(folder)) throw error
    }
    return folder
  } catch (error) {
    if (!['EACCES', 'EROFS', 'EPERM', 'ENOENT', 'ENOTDIR'].includes(error.code)) throw error
    // Without a home that can be written, each start unpacks for itself.
    const own = mkdtempSync(path.join(tmpdir(), 'stackloom-'))
    process.once('exit', () => rmSync(own, { recursive: true, force: true }))
    unpack(own)
    return own
  }
}

try {
  const folder = packageFolder()
  enableCompileCache(path.join(folder, 'compile-cache'))
  // The `require` of an executable finds built-in modules only.
  const entry = path.join(folder, 'dist/entry.js')
  createRequire(entry)(entry)
} catch (error) {
  process.stderr.write(`stackloom cannot start: ${error.stack}\n`)
  process.exitCode = 2
}
