import { describe, expect, it } from 'vitest'
import { describeExit, lastLines, runProcess, startProcess, succeeded } from './process.ts'

const shell = (script: string) => ({ file: '/bin/sh', args: ['-c', script] })
/** A zombie that nobody has reaped yet is not alive. */
const alive = async (pid: number): Promise<boolean> => {
  const { stdout } = await runProcess({ file: 'ps', args: ['-o', 'stat=', '-p', String(pid)] })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

describe('a child process', () => {
  it('is read line by line, each stream by itself, the last line without an end too', async () => {
    const lines: string[] = []
    const { exit, stdout, stderr } = await runProcess(shell('printf "a\\nb"; echo c >&2'), {
      onLine: (line, stream) => lines.push(`${stream} ${line}`),
    })
    expect(succeeded(exit)).toBe(true)
    expect({ stdout, stderr }).toEqual({ stdout: 'a\nb\n', stderr: 'c\n' })
    expect(lines.sort()).toEqual(['stderr c', 'stdout a', 'stdout b'])
  })

  it('gives its exit code, its signal, or why it never started, as a value', async () => {
    const endings = await Promise.all([
      runProcess(shell('exit 3')),
      runProcess(shell('kill -SEGV $$')),
      runProcess({ file: '/no/such/program' }),
    ])
    expect(endings.map(({ exit }) => exit)).toMatchObject([
      { kind: 'exited', code: 3 },
      { kind: 'killed', signal: 'SIGSEGV' },
      { kind: 'not-started', missing: true },
    ])
    expect(endings.map(({ exit }) => describeExit(exit))).toEqual([
      'exited with code 3',
      'was ended by SIGSEGV',
      expect.stringContaining('could not be started'),
    ])
  })

  it('is ended with its own children when the time is over, however stubborn it is', async () => {
    let child = 0
    const { exit } = await runProcess(shell('trap "" TERM; (trap "" TERM; sleep 60) & echo $!; wait'), {
      timeoutMs: 300,
      graceMs: 100,
      onLine: (line) => (child = Number(line)),
    })
    expect(exit).toEqual({ kind: 'timed-out', afterMs: 300 })
    expect(child).toBeGreaterThan(0)
    await expect.poll(() => alive(child)).toBe(false)
  })

  it('is cancelled by a signal, before its start as well', async () => {
    const controller = new AbortController()
    const running = startProcess(shell('sleep 60'), { signal: controller.signal })
    controller.abort()
    expect(await running.exit).toEqual({ kind: 'cancelled' })
    const late = await runProcess(shell('sleep 60'), { signal: controller.signal })
    expect(late.exit).toEqual({ kind: 'cancelled' })
  })

  it('leaves nothing in its group when it ends by itself', async () => {
    const { stdout } = await runProcess(shell('sleep 60 >/dev/null 2>&1 & echo $!'))
    await expect.poll(() => alive(Number(stdout))).toBe(false)
  })

  it('gets secrets by its input, and they come out masked', async () => {
    const { stdout } = await runProcess(
      { ...shell('cat; echo over'), input: 'user:s3cret-w0rd\n' },
      {
        secrets: ['s3cret-w0rd'],
      },
    )
    expect(stdout).toBe('user:******\nover\n')
  })

  it('takes and loses variables of the environment', async () => {
    const { stdout } = await runProcess({ ...shell('echo "$A-$HOME"'), env: { A: 'b', HOME: undefined } })
    expect(stdout).toBe('b-\n')
  })
})

it('the last lines of an output are its end', () => {
  expect(lastLines('a\nb\nc\n', 2)).toBe('b\nc')
})
