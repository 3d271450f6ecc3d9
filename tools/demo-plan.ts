/** The first part of `make demo`, which needs no cluster: plan, tree, picture, and what a mistake looks like. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import pc from 'picocolors'
import type { Io } from '../src/cli/io.ts'
import { main } from '../src/cli/main.ts'

const SITE = path.join(import.meta.dirname, '..', 'examples', 'two-clouds.yaml')

/** Leaves site.yaml with its lock in the folder, and a picture of both clouds. Returns the exit code of the first command that fails. */
export async function showPlan(folder: string, io: Io, picture: string): Promise<number> {
  const { bold, dim } = pc.createColors(io.colour.stdout)
  const heading = (text: string): void => io.stdout(`\n${bold(text)}\n`)
  const stackloom = (...args: readonly string[]): Promise<number> => {
    io.stdout(dim(`   $ stackloom ${args.join(' ')}\n`))
    return main(args, { ...io, cwd: folder })
  }
  heading('1. One file, two clouds: every address is planned, without a cluster')
  const site = await readFile(SITE, 'utf8')
  await writeFile(path.join(folder, 'site.yaml'), site)
  const planned = await stackloom('plan', '--topology', picture)
  if (planned !== 0) return planned
  heading('2. Every object is rendered, for a Git repository')
  const rendered = await stackloom('render', '--out', 'tree')
  if (rendered !== 0) return rendered
  heading('3. A mistake is found before anything is deployed: the second cloud gets VLAN 20, too')
  const mistake = site.replace('vlan: 30', 'vlan: 20')
  if (mistake === site) throw new Error('the example no longer has the VLAN that the demo changes')
  await writeFile(path.join(folder, 'mistake.yaml'), mistake)
  const found = await stackloom('plan', '-f', 'mistake.yaml', '--check', '--cloud', 'rhoso2', '-q')
  return found === 1 ? 0 : 1
}
