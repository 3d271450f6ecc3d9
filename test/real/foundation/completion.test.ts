/** Completion in the real shells, with the built program. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'

let folder = ''
const present = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-completion-'))
  for (const name of ['stackloom', 'kubectl_complete-stackloom']) {
    symlinkSync(path.resolve('bin', name), path.join(folder, name))
  }
  writeFileSync(path.join(folder, 'notes.txt'), '')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(program: string, args: readonly string[]): readonly string[] {
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, HOME: folder }
  const output = execFileSync(program, args, { cwd: folder, env, encoding: 'utf8' })
  return output.split('\n').filter((line) => line !== '')
}

function needs(shell: string, context: TestContext): void {
  if (!present(shell)) context.skip(`${shell} is not installed`)
}

/** What bash would offer: its variables are set as it sets them, and the function is called as it calls it. */
function inBash(...words: string[]): readonly string[] {
  const quoted = ['stackloom', ...words].map((word) => `'${word}'`).join(' ')
  const script = `source <(stackloom completion bash)
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}
_stackloom; printf '%s\\n' "\${COMPREPLY[@]}"`
  return run('bash', ['--norc', '-c', script])
}

/** zsh's own functions that show the result are replaced by ones that print it. */
function inZsh(...words: string[]): readonly string[] {
  const quoted = ['stackloom', ...words].map((word) => `'${word}'`).join(' ')
  const script = `compdef() { }; _describe() { print -l -- \${found%%:*} }; _files() { print -- files $1 }
source <(stackloom completion zsh)
words=(${quoted}); CURRENT=${words.length + 1}
_stackloom`
  return run('zsh', ['-f', '-c', script])
}

/** fish completes a command line that is given to it. */
function inFish(line: string): readonly string[] {
  const script = `stackloom completion fish | source; complete -C '${line}'`
  return run('fish', ['--no-config', '-c', script]).map((one) => one.split('\t')[0] ?? '')
}

describe('completion in a real shell', () => {
  it('bash: commands, choices, also behind an equals sign', (context) => {
    needs('bash', context)
    expect(inBash('expl')).toEqual(['explain'])
    expect(inBash('explain', '-o', '')).toEqual(['table', 'json', 'yaml'])
    expect(inBash('explain', '--output', '=', 'js')).toEqual(['json'])
    expect(inBash('explain', 'SL1001')).toEqual(['SL1001'])
  })

  it('bash: is registered for the program', (context) => {
    needs('bash', context)
    const script = 'source <(stackloom completion bash); complete -p stackloom'
    expect(run('bash', ['--norc', '-c', script])).toEqual(['complete -F _stackloom stackloom'])
  })

  it('zsh: the same', (context) => {
    needs('zsh', context)
    expect(inZsh('expl')).toEqual(['explain'])
    expect(inZsh('explain', '-o', '')).toEqual(['table', 'json', 'yaml'])
    expect(inZsh('explain', '--output=js')).toEqual(['--output=json'])
  })

  it('fish: the same', (context) => {
    needs('fish', context)
    expect(inFish('stackloom expl')).toEqual(['explain'])
    expect(inFish('stackloom explain -o ')).toEqual(['table', 'json', 'yaml'])
    expect(inFish('stackloom explain --output=js')).toEqual(['--output=json'])
  })

  it('kubectl: its plugin completion file answers with suggestions and a directive', () => {
    const [first, last] = run('kubectl_complete-stackloom', ['expl'])
    expect(first).toMatch(/^explain\t/)
    expect(last).toBe(':4')
  })
})
