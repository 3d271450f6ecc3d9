import { describe, expect, it } from 'vitest'
import { describeExit, lastLines, runProcess, startProcess, succeeded } from './process.ts'

const shell = (script: string) => ({ file: '/bin/sh', args: ['-c', script] })
/** A zombie that was not reaped yet is not alive. */
const alive = async (pid: number): Promise<boolean> => {
  const { stdout } = await runProcess({ file: 'ps', args: ['-o', 'stat=', '-p', String(pid)] })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

describe('runProcess', () => {
  it('reads each stream line by line, including a last line without a newline', async () => {
    const lines: string[] = []
    const { exit, stdout, stderr } = await runProcess(shell('printf "a\\nb"; echo c >&2'), {
      onLine: (line, stream) => lines.push(`${stream} ${line}`),
    })
    expect(succeeded(exit)).toBe(true)
    expect({ stdout, stderr }).toEqual({ stdout: 'a\nb\n', stderr: 'c\n' })
    expect(lines.sort()).toEqual(['stderr c', 'stdout a', 'stdout b'])
  })

  it('returns the exit code, the signal, or why the program did not start', async () => {
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

  it('ends the process and its children after the time limit, even if they ignore SIGTERM', async () => {
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

  it('is cancelled by a signal, also before the start', async () => {
    const controller = new AbortController()
    const running = startProcess(shell('sleep 60'), { signal: controller.signal })
    controller.abort()
    expect(await running.exit).toEqual({ kind: 'cancelled' })
    const late = await runProcess(shell('sleep 60'), { signal: controller.signal })
    expect(late.exit).toEqual({ kind: 'cancelled' })
  })

  it('leaves no process in the group after the program ends', async () => {
    const { stdout } = await runProcess(shell('sleep 60 >/dev/null 2>&1 & echo $!'))
    await expect.poll(() => alive(Number(stdout))).toBe(false)
  })

  it('passes secrets by stdin and masks them in the output', async () => {
    const { stdout } = await runProcess(
      { ...shell('cat; echo over'), input: 'user:s3cret-w0rd\n' },
      {
        secrets: ['s3cret-w0rd'],
      },
    )
    expect(stdout).toBe('user:******\nover\n')
  })

  it('adds and removes environment variables', async () => {
    const { stdout } = await runProcess({ ...shell('echo "$A-$HOME"'), env: { A: 'b', HOME: undefined } })
    expect(stdout).toBe('b-\n')
  })
})

it('returns the end of an output as its last lines', () => {
  expect(lastLines('a\nb\nc\n', 2)).toBe('b\nc')
})
