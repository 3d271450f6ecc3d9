/**
 * Installs what the tests need beyond npm. Where it may not install, it says what is missing: the tests that need it
 * are then skipped by name, with the reason.
 */
import { spawnSync } from 'node:child_process'
import { type DebianPackage, debianPackages } from './debian-packages.ts'
import { setUpLab } from './lab-setup.ts'
import { installNmstatectl } from './nmstatectl.ts'
import { setUpSandbox } from './sandbox-setup.ts'

function missing(packages: readonly DebianPackage[]): readonly DebianPackage[] {
  const query = ['-W', '-f', '${Package} ${db:Status-Status}\n', ...packages.map((debianPackage) => debianPackage.name)]
  const { stdout } = spawnSync('dpkg-query', query, { encoding: 'utf8' })
  const installed = new Set((stdout ?? '').split('\n'))
  return packages.filter((debianPackage) => !installed.has(`${debianPackage.name} installed`))
}

function install(packages: readonly DebianPackage[]): void {
  const names = packages.map((debianPackage) => debianPackage.name)
  console.log(`setup: installing ${names.join(', ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...words: string[]) => spawnSync('apt-get', ['-qq', '-y', ...words], { env, encoding: 'utf8' })
  // The lists may be older than the archive: they are fetched only when the first try fails.
  const first = apt('install', '--no-install-recommends', ...names)
  if (first.status === 0) return
  apt('update')
  // One by one: a package that this Debian does not have must not keep the others away.
  for (const name of names) apt('install', '--no-install-recommends', name)
}

async function main(): Promise<void> {
  const wanted = missing(debianPackages)
  const mayInstall = process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0
  if (wanted.length > 0 && mayInstall) install(wanted)
  const absent = wanted.length > 0 ? missing(wanted) : []
  for (const { name, why } of absent) console.log(`setup: without ${name}: ${why}`)
  const sandbox = await setUpSandbox()
  const nmstate = installNmstatectl()
  const lab = await setUpLab()
  if (absent.length === 0 && sandbox && nmstate && lab) console.log('setup: complete')
}

await main()
