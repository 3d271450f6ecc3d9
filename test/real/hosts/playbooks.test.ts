/** Lets Ansible read every playbook as runs contain it: a run whose playbook it refuses starts nothing. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { readPlaybook } from '../../../src/dataplane/runs/playbooks.ts'
import { runProcess } from '../../../src/exec/process.ts'

it('every playbook is accepted by Ansible', async (context) => {
  const { exit: version } = await runProcess({ file: 'sh', args: ['-c', 'command -v ansible-playbook'] })
  if (version.kind !== 'exited' || version.code !== 0) context.skip('there is no ansible-playbook')
  const sources = path.join(import.meta.dirname, '../../../playbooks')
  const names = (await readdir(sources)).filter((name) => name.endsWith('.yaml')).map((name) => path.parse(name).name)
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-syntax-'))
  try {
    const files = names.map((name) => path.join(folder, `${name}.yaml`))
    for (const [index, file] of files.entries()) await writeFile(file, await readPlaybook(names[index] ?? ''))
    const env = { ANSIBLE_HOME: folder, ANSIBLE_LOCAL_TEMP: folder }
    const args = ['--syntax-check', '-i', 'localhost,', ...files]
    const { exit, stderr } = await runProcess({ file: 'ansible-playbook', args, env })
    expect(exit, stderr).toEqual({ kind: 'exited', code: 0 })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 300_000)
