/**
 * Installs what the tests need in addition to npm packages.
 *
 * Without root it prints what is missing; the tests that need it are skipped with that reason.
 */
import { spawnSync } from 'node:child_process'
import { type DebianPackage, debianPackages } from './debian-packages.ts'
import { setUpLab } from './lab-setup.ts'
import { installNmstatectl } from './nmstatectl.ts'
import { installNodeVersions } from './node-versions.ts'
import { setUpSandbox } from './sandbox-setup.ts'

function findMissing(packages: readonly DebianPackage[]): readonly DebianPackage[] {
  const query = ['-W', '-f', '${Package} ${db:Status-Status}\n', ...packages.map((debianPackage) => debianPackage.name)]
  const { stdout } = spawnSync('dpkg-query', query, { encoding: 'utf8' })
  const installed = new Set((stdout ?? '').split('\n'))
  return packages.filter((debianPackage) => !installed.has(`${debianPackage.name} installed`))
}

function install(packages: readonly DebianPackage[]): void {
  const names = packages.map((debianPackage) => debianPackage.name)
  console.log(`setup: installing ${names.join(', ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args: string[]) => spawnSync('apt-get', ['-qq', '-y', ...args], { env, encoding: 'utf8' })
  // The package lists may be outdated: they are fetched only when the first attempt fails.
  const first = apt('install', '--no-install-recommends', ...names)
  if (first.status === 0) return
  apt('update')
  // One by one: a package that this Debian does not have must not prevent the others.
  for (const name of names) apt('install', '--no-install-recommends', name)
}

async function main(): Promise<void> {
  const missing = findMissing(debianPackages)
  const mayInstall = process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0
  if (missing.length > 0 && mayInstall) install(missing)
  const absent = missing.length > 0 ? findMissing(missing) : []
  for (const { name, why } of absent) console.log(`setup: without ${name}: ${why}`)
  const sandbox = await setUpSandbox()
  const nmstate = await installNmstatectl()
  const lab = await setUpLab()
  const nodes = installNodeVersions()
  if (absent.length === 0 && sandbox && nmstate && lab && nodes) console.log('setup: complete')
}

await main()
