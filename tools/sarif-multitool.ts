/** Installs Microsoft's SARIF Multitool, which judges SARIF files, into the user's cache from its npm package. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync } from 'node:fs'
import path from 'node:path'
import { resolveSandboxPaths } from '../src/sandbox/sandbox-context.ts'

const NAME = '@microsoft/sarif-multitool-linux'
const VERSION = '5.7.0'

/** Undefined where it is missing and this run builds no programs, or where npm cannot install it. */
export function findSarifMultitool(): string | undefined {
  const folder = path.join(resolveSandboxPaths(process.env).cache, `sarif-multitool-${VERSION}`)
  const program = path.join(folder, 'node_modules', NAME, 'Sarif.Multitool')
  if (!existsSync(program) && process.env['STACKLOOM_BUILD_ALL'] === '1') {
    const args = ['install', '--silent', '--no-save', '--ignore-scripts', '--prefix', folder, `${NAME}@${VERSION}`]
    spawnSync('npm', args, { stdio: 'ignore' })
  }
  if (!existsSync(program)) return undefined
  chmodSync(program, 0o755)
  return program
}
