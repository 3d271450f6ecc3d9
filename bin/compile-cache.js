// Keeps compiled code between starts, in the cache of the user: compiling takes a third of a short command.
// A folder that cannot be written is no error: the code is compiled again.
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs')
const Module = require('node:module')
const path = require('node:path')
const vm = require('node:vm')
const { crc32 } = require('node:zlib')

const { HOME, NODE_DISABLE_COMPILE_CACHE, XDG_CACHE_HOME } = process.env
const cache = XDG_CACHE_HOME && path.isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : HOME && path.join(HOME, '.cache')
if (cache && path.isAbsolute(cache) && !NODE_DISABLE_COMPILE_CACHE) {
  const folder = path.join(cache, 'stackloom', 'compile-cache')
  if (isOwn(folder)) {
    if (Module.enableCompileCache) Module.enableCompileCache(folder)
    else keepCompiledCode(path.join(folder, `${process.version}-${process.arch}`))
  }
}

/** Code that another user can write is not run, also where `sudo` keeps HOME. */
function isOwn(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return statSync(folder).uid === process.getuid()
  } catch {
    return false
  }
}

/** Does what Node 22.8 and newer do themselves. */
function keepCompiledCode(folder) {
  const compiled = []
  Module.prototype._compile = function (source, file) {
    const stored = path.join(folder, path.basename(file))
    const key = crc32(source)
    const cachedData = readCompiled(stored, key)
    const script = new vm.Script(Module.wrap(source), { filename: file, cachedData })
    if (!cachedData || script.cachedDataRejected) compiled.push({ script, key, stored })
    const load = (name) => this.require(name)
    return script.runInThisContext().call(this.exports, this.exports, load, this, file, path.dirname(file))
  }
  // At the end, the functions that were used are compiled, too.
  process.once('exit', () => {
    try {
      if (compiled.length) mkdirSync(folder, { recursive: true })
      for (const { script, key, stored } of compiled) writeCompiled(stored, key, script.createCachedData())
    } catch {}
  })
}

const HEADER = 8

/** V8 checks neither the content of compiled code nor more than the length of its source. */
function readCompiled(file, key) {
  try {
    const stored = readFileSync(file)
    const data = stored.subarray(HEADER)
    return stored.readUInt32LE(0) === key && stored.readUInt32LE(4) === crc32(data) ? data : undefined
  } catch {
    return undefined
  }
}

function writeCompiled(file, key, data) {
  const header = Buffer.alloc(HEADER)
  header.writeUInt32LE(key, 0)
  header.writeUInt32LE(crc32(data), 4)
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, Buffer.concat([header, data]))
  renameSync(temporary, file)
}
