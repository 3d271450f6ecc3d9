/** Completion in real shells and in real kubectl, with the built program. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { requireTool } from '../../tools.ts'

let folder = ''

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-completion-'))
  // As npm links them: the program under two names, and the file that kubectl looks for.
  symlinkSync(path.resolve('bin/stackloom'), path.join(folder, 'stackloom'))
  symlinkSync(path.resolve('bin/stackloom'), path.join(folder, 'kubectl-stackloom'))
  symlinkSync(path.resolve('bin/kubectl_complete-stackloom'), path.join(folder, 'kubectl_complete-stackloom'))
  writeFileSync(path.join(folder, 'notes.txt'), '')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(program: string, args: readonly string[]): readonly string[] {
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, HOME: folder }
  const output = execFileSync(program, args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' })
  return output.split('\n').filter((line) => line !== '')
}

/** The completions of bash: sets the variables and calls the function as bash does. */
function inBash(...words: string[]): readonly string[] {
  const quoted = ['stackloom', ...words].map((word) => `'${word}'`).join(' ')
  const script = `source <(stackloom completion bash)
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}
_stackloom; printf '%s\\n' "\${COMPREPLY[@]}"`
  return run('bash', ['--norc', '-c', script])
}

/** Replaces zsh's display functions by ones that print the result. */
function inZsh(...words: string[]): readonly string[] {
  const quoted = ['stackloom', ...words].map((word) => `'${word}'`).join(' ')
  const script = `compdef() { }; _describe() { print -l -- \${found%%:*} }; _files() { print -- files $1 }
source <(stackloom completion zsh)
words=(${quoted}); CURRENT=${words.length + 1}
_stackloom`
  return run('zsh', ['-f', '-c', script])
}

/** The completions of fish for a command line. */
function inFish(line: string): readonly string[] {
  const script = `stackloom completion fish | source; complete -C '${line}'`
  return run('fish', ['--no-config', '-c', script]).map((line) => line.split('\t')[0] ?? '')
}

describe('completion in a real shell', () => {
  it('bash: completes commands and choices, also after an equals sign', (context) => {
    requireTool(context, 'bash')
    expect(inBash('expl')).toEqual(['explain'])
    expect(inBash('explain', '-o', '')).toEqual(['table', 'json', 'yaml'])
    expect(inBash('explain', '--output', '=', 'js')).toEqual(['json'])
    expect(inBash('explain', 'SL1001')).toEqual(['SL1001'])
  })

  it('bash: is registered for the program', (context) => {
    requireTool(context, 'bash')
    const script = 'source <(stackloom completion bash); complete -p stackloom'
    expect(run('bash', ['--norc', '-c', script])).toEqual(['complete -F _stackloom stackloom'])
  })

  it('zsh: completes the same', (context) => {
    requireTool(context, 'zsh')
    expect(inZsh('expl')).toEqual(['explain'])
    expect(inZsh('explain', '-o', '')).toEqual(['table', 'json', 'yaml'])
    expect(inZsh('explain', '--output=js')).toEqual(['--output=json'])
  })

  it('fish: completes the same', (context) => {
    requireTool(context, 'fish')
    expect(inFish('stackloom expl')).toEqual(['explain'])
    expect(inFish('stackloom explain -o ')).toEqual(['table', 'json', 'yaml'])
    expect(inFish('stackloom explain --output=js')).toEqual(['--output=json'])
  })

  it('kubectl: runs the plugin and completes it', async (context) => {
    requireTool(context, 'go')
    const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
    expect(run(kubectl, ['stackloom', 'explain', 'SL1001'])[0]).toMatch(/^# SL1001/)
    const [first, last] = run(kubectl, ['__complete', 'stackloom', 'expl'])
    expect(first).toMatch(/^explain\t/)
    expect(last).toBe(':4')
  })
})
