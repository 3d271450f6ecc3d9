/**
 * Serves npm packages on loopback, for builds and installations that must not use a network: the locked ones, from the cache
 * that `npm ci` has filled on this machine, or one from its archive.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'

export interface NpmRegistry {
  readonly url: string
  readonly close: () => void
}

interface LockedPackage {
  readonly version: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly dependencies?: object
  readonly optionalDependencies?: object
  readonly bin?: object
  readonly engines?: object
}

/** Names a package that the cache does not have instead. */
export async function serveLockedPackages(
  lockFile: string,
  cache: string,
): Promise<NpmRegistry | { readonly missing: string }> {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, LockedPackage> }
  const locked = Object.entries(packages).flatMap(([place, entry]) => {
    const name = place.split('node_modules/').at(-1) ?? ''
    const file = entry.integrity === undefined ? undefined : contentPath(cache, entry.integrity)
    return name === '' || file === undefined ? [] : [{ name, place, file, entry }]
  })
  // Of the optional packages npm has only those in its cache that it installed for this machine and this Node.
  const absent = locked.find(
    ({ entry, place, file }) =>
      (!entry.optional || existsSync(path.join(path.dirname(lockFile), place))) && !existsSync(file),
  )
  if (absent) return { missing: absent.name }
  return serve((request, response) => {
    const [, tarball, version] = /^\/-\/(.*)\/([^/]+)\.tgz$/.exec(decodeURIComponent(request.url ?? '')) ?? []
    if (tarball !== undefined) {
      const found = locked.find(({ name, entry }) => name === tarball && entry.version === version)
      // An optional package for another Node than that of this machine is not in the cache; npm goes on without it.
      if (found && existsSync(found.file)) return void response.end(readFileSync(found.file))
    }
    const name = decodeURIComponent(request.url ?? '').slice(1)
    const versions = locked
      .filter((candidate) => candidate.name === name)
      .map(({ entry }) => {
        const tarball = `http://${request.headers.host}/-/${name}/${entry.version}.tgz`
        const dist = { integrity: entry.integrity, tarball }
        return [entry.version, { name, ...entry, dist }] as const
      })
    if (versions.length === 0) return void response.writeHead(404).end()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name, 'dist-tags': {}, versions: Object.fromEntries(versions) }))
  })
}

/** One version of a package, as `npm publish` of the archive makes it known. */
export function servePackage(
  archive: string,
  manifest: { readonly name: string; readonly version: string },
): Promise<NpmRegistry> {
  const { name, version } = manifest
  const bytes = readFileSync(archive)
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  return serve((request, response) => {
    if (request.url?.endsWith('.tgz')) return void response.end(bytes)
    if (request.url !== `/${name}`) return void response.writeHead(404).end()
    const dist = { integrity, tarball: `http://${request.headers.host}/${name}-${version}.tgz` }
    response.setHeader('content-type', 'application/json')
    const versions = { [version]: { ...manifest, dist } }
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }))
  })
}

async function serve(listener: RequestListener): Promise<NpmRegistry> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, close: () => server.close() }
}

/** Where npm's cache has the content with this checksum. */
function contentPath(cache: string, integrity: string): string | undefined {
  const [algorithm = '', sum = ''] = integrity.split(' ')[0]?.split(/-(.*)/) ?? []
  if (algorithm !== 'sha512') return undefined
  const hex = Buffer.from(sum, 'base64').toString('hex')
  return path.join(cache, '_cacache', 'content-v2', algorithm, hex.slice(0, 2), hex.slice(2, 4), hex.slice(4))
}
