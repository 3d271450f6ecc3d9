import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { testIo } from '../../../test/io.ts'
import { readSite } from '../../site/read.ts'
import { main } from '../main.ts'
import type { Prompter } from '../questions.ts'
import { gatherAnswers } from './answers.ts'
import { define } from './command.ts'

let cwd: string
beforeEach(() => void (cwd = mkdtempSync(path.join(tmpdir(), 'stackloom-init-'))))
afterEach(() => rmSync(cwd, { recursive: true }))

describe('stackloom init', () => {
  it('writes a file without findings, and asks nothing without a terminal', async () => {
    const io = testIo({ cwd })
    expect(await main(['init'], io)).toBe(0)
    const text = readFileSync(path.join(cwd, 'site.yaml'), 'utf8')
    expect(readSite(text, 'site.yaml').findings).toEqual([])
    expect(text).toContain('# A site: one cluster')
    expect(io.err()).toContain('stackloom plan')
  })

  it('writes a file that plans without findings', async () => {
    expect(await main(['init'], testIo({ cwd }))).toBe(0)
    const io = testIo({ cwd })
    expect(await main(['plan', '-o', 'json'], io)).toBe(0)
    expect(JSON.parse(io.out())).toMatchObject({ findings: [] })
  })

  it('accepts every answer as an option', async () => {
    const io = testIo({ cwd })
    const answers = ['--name', 'prod', '--node', 'w-0=eno1', '--node', 'w-1=eno1', '--cloud', 'a=ns-a', '--cloud', 'b']
    const more = ['--families', '4,6', '--isolation', 'shared-vlan', '--dns', '10.0.0.2', '--storage-class', 'lvms']
    expect(await main(['init', '-f', '-', ...answers, ...more], io)).toBe(0)
    expect(readSite(io.out(), 'x').findings).toEqual([])
    expect(parse(io.out())).toMatchObject({
      metadata: { name: 'prod' },
      spec: {
        cluster: {
          nodes: [
            { name: 'w-0', nic: 'eno1' },
            { name: 'w-1', nic: 'eno1' },
          ],
          dns: ['10.0.0.2'],
          storageClass: 'lvms',
        },
        addressing: { families: [4, 6], isolation: 'shared-vlan' },
        clouds: [
          { name: 'a', namespace: 'ns-a' },
          { name: 'b', namespace: 'b' },
        ],
      },
    })
  })

  it('makes public endpoints VIPs on plain Kubernetes, which has no Routes', async () => {
    const io = testIo({ cwd })
    expect(await main(['init', '-f', '-', '--platform', 'kubernetes'], io)).toBe(0)
    expect(parse(io.out())).toMatchObject({ spec: { clouds: [{ public: { by: 'vip' } }] } })
  })

  it('never overwrites a file without --overwrite', async () => {
    const file = path.join(cwd, 'site.yaml')
    writeFileSync(file, 'mine')
    const io = testIo({ cwd })
    expect(await main(['init'], io)).toBe(2)
    expect(io.err()).toContain('SL2061')
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(await main(['init', '--overwrite'], testIo({ cwd }))).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toBe('mine')
  })

  it.each([
    [['--node', 'worker-0'], 'SL2062'],
    [['--families', '5'], 'SL2062'],
    [['--dns', '192.168.123.1ØØ'], 'SL2062'],
    [['--cloud', 'RHOSO_1'], 'SL2002'],
    [['--platform', 'nomad'], 'SL1001'],
  ])('refuses %j and writes nothing', async (options, code) => {
    const io = testIo({ cwd })
    expect(await main(['init', ...options], io)).toBe(2)
    expect(io.err()).toContain(code)
    expect(existsSync(path.join(cwd, 'site.yaml'))).toBe(false)
  })

  it('checks for the file before it asks', async () => {
    writeFileSync(path.join(cwd, 'site.yaml'), 'mine')
    const command = new Command('init').exitOverride()
    const io = testIo({ cwd })
    const refuse = (): never => expect.unreachable('a question was asked')
    define(command, { io, act: async (work) => void (await work()) }, { text: refuse, choose: refuse })
    await expect(command.parseAsync([], { from: 'user' })).rejects.toThrow('exists already')
  })

  it('validates each answer at its prompt, with the rules of a site file', async () => {
    const wrong: Readonly<Record<string, string>> = {
      'Name of the site': 'My Site',
      'Nodes and their NICs (name=nic,…)': 'worker-0',
      'Clouds (name,… or name=namespace,…)': 'a=x,a=y',
      'IP versions (4, 6 or 4,6)': '5',
      'DNS servers for the clouds': 'dns.example.com',
    }
    const reasons: Record<string, string | undefined> = {}
    const questions: Prompter = {
      text: (message, standard, check) => {
        reasons[message] = check?.(wrong[message] ?? '')
        expect(check?.(standard), message).toBeUndefined()
        return Promise.resolve(standard)
      },
      choose: (_, choices) => Promise.resolve(choices[0] as never),
    }
    await gatherAnswers({}, questions)
    expect(Object.keys(reasons)).toEqual(Object.keys(wrong))
    for (const [message, reason] of Object.entries(reasons)) expect(reason, message).toBeTruthy()
  })

  it('writes the schema beside the file and names it in the first line', async () => {
    expect(await main(['init', '-f', 'prod.yaml'], testIo({ cwd }))).toBe(0)
    const [first] = readFileSync(path.join(cwd, 'prod.yaml'), 'utf8').split('\n')
    expect(first).toBe('# yaml-language-server: $schema=./prod.schema.json')
    expect(JSON.parse(readFileSync(path.join(cwd, 'prod.schema.json'), 'utf8'))).toMatchObject({ title: 'Site' })
  })

  it('says what it assumed without a terminal, and nothing of what an option gives', async () => {
    const io = testIo({ cwd })
    expect(await main(['init', '--name', 'prod', '--cloud', 'a'], io)).toBe(0)
    expect(io.err()).toContain('  Platform of the cluster: openshift\n')
    expect(io.err()).toContain('  Nodes and their NICs (name=nic,…): worker-0=enp6s0')
    expect(io.err()).not.toMatch(/Name of the site|Clouds \(/)
  })

  it('asks only for what no option sets', async () => {
    const asked: string[] = []
    const questions: Prompter = {
      text: (message, standard) => (asked.push(message), Promise.resolve(standard)),
      choose: (message, choices) => (asked.push(message), Promise.resolve(choices[0] as never)),
    }
    await gatherAnswers({ name: 'x', cloud: ['a'], platform: 'openshift' }, questions)
    expect(asked).toHaveLength(4)
  })
})
