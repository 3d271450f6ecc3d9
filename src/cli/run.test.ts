/** Runs the program in a process: what it reports when Node ends it before the command has. */
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

function runAction(action: string): { readonly code: number | null; readonly err: string } {
  const entry = `{ name: 'wait', summary: 'Wait', load: async () => ({
    define: (command, { act }) => { command.action(() => act(${action})) } }) }`
  const script = `import { run } from './src/cli/main.ts'; process.argv.splice(1, 0, 'stackloom'); await run([${entry}])`
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', script, '--', 'wait'],
    { encoding: 'utf8' },
  )
  return { code: status, err: stderr }
}

describe('the program', () => {
  it('reports a command that waits for nothing, with the exit code of a failure', () => {
    const { code, err } = runAction('() => new Promise(() => undefined)')
    expect(err).toContain('SL1000')
    expect(err).toContain('waits for something that cannot happen any more')
    expect(code).toBe(2)
  })

  it('reports nothing of the kind after a command that ended', () => {
    expect(runAction('async () => 3')).toEqual({ code: 3, err: '' })
  })
})
