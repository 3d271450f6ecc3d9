import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { count } from '../../test/counts.ts'
import { labWith } from '../../test/lab.ts'
import { formatShellCommand } from '../errors/shell-words.ts'
import { writeYaml } from '../yaml/write.ts'
import { buildHostVars } from './kolla/inventory.ts'
import { quoteSshArgument } from './ssh.ts'
import { quote, writeHcl } from './terraform/hcl.ts'

vi.setConfig({ testTimeout: 120_000 })

let folder: string
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'stackloom-quoting-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const pieces = [
  '$',
  '{',
  '}',
  '%',
  '"',
  "'",
  '\\',
  '`',
  '(',
  ')',
  ' ',
  '\n',
  '\t',
  ';',
  '#',
  '-',
  '=',
  'a',
  'ü',
  '\u0008',
  '\u000c',
  '\r',
]
const hostileText = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''))
const samples = (runs: number): readonly string[] => fc.sample(hostileText, { numRuns: runs, seed: 20 })

const hasProgram = (name: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`])
    return true
  } catch {
    return false
  }
}

describe('quoting', () => {
  it('gives a shell exactly the words', () => {
    const words = samples(count({ test: 500, soak: 5000 }))
    const output = execFileSync('sh', ['-s'], { input: `printf '%s\\0' ${formatShellCommand(words)}` })
    expect(output.toString().split('\0').slice(0, -1)).toEqual(words)
  })

  it('gives Terraform exactly the texts', (ctx) => {
    if (!hasProgram('terraform')) ctx.skip('terraform is not installed')
    const texts = samples(count({ test: 300, soak: 3000 }))
    writeFileSync(
      path.join(folder, 'main.tf'),
      writeHcl([{ kind: 'output', labels: ['texts'], attributes: { value: texts } }]),
    )
    const terraform = (...args: readonly string[]): string =>
      execFileSync('terraform', [`-chdir=${folder}`, ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    terraform('apply', '-auto-approve', '-input=false', '-no-color')
    expect(JSON.parse(terraform('output', '-json', 'texts'))).toEqual(texts)
  })

  it('begins no template in HCL', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(quote(text).replaceAll(/[$%]{2}\{/g, '')).not.toMatch(/[$%]\{/)
      }),
    )
  })

  it('gives ssh exactly the path, or refuses it', (ctx) => {
    if (!hasProgram('ssh')) ctx.skip('ssh is not installed')
    let accepted = 0
    for (const text of samples(count({ test: 80, soak: 800 }))) {
      const file = `/x${text}y`
      let quoted: string
      try {
        quoted = quoteSshArgument(file)
      } catch {
        expect(file).toMatch(/\p{Cc}|\$\{/u)
        continue
      }
      accepted += 1
      writeFileSync(path.join(folder, 'config'), `Host *\n  ControlPath ${quoted}\n`)
      const settings = execFileSync('ssh', ['-G', '-F', path.join(folder, 'config'), 'node1'], { encoding: 'utf8' })
      expect(settings.split('\n').filter((line) => line.startsWith('controlpath '))).toEqual([`controlpath ${file}`])
      expect(settings).not.toMatch(/^proxycommand/m)
    }
    expect(accepted).toBeGreaterThan(5)
  })

  it('gives ssh one file of known hosts when the folder has blanks', (ctx) => {
    if (!hasProgram('ssh')) ctx.skip('ssh is not installed')
    const [node] = labWith().nodes
    const args = String(node && buildHostVars(labWith(), node)['ansible_ssh_common_args'])
    const command = `ssh -F none -G ${args.replace('{{ inventory_dir }}', '/my lab/kolla')} node1`
    const settings = execFileSync('sh', ['-c', command], { encoding: 'utf8' })
    expect(settings).toContain('userknownhostsfile /my lab/kolla/../ssh/known_hosts\n')
    expect(settings).toContain('host node1\n')
  })

  it('gives a YAML reader exactly the texts', () => {
    const texts = samples(count({ test: 500, soak: 5000 }))
    expect(parse(writeYaml({ texts }))).toEqual({ texts })
  })
})
