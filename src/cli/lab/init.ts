/** Defines `lab init`, which writes a preset lab file. At a terminal it asks for the answers that no option gives. */
import { type Command, Option } from 'commander'
import { Failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { defaultAnswers, type PresetAnswers, presetNames, renderPreset } from '../../lab/presets.ts'
import { readLab } from '../../lab/read-lab.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { writeNewFile } from '../files.ts'
import { createAnswers, openPrompter, type Prompter } from '../questions.ts'

interface Options extends Partial<Omit<PresetAnswers, 'cores'>> {
  readonly cores?: string
  readonly file: string
  readonly overwrite?: boolean
}

export function defineInit(parent: Command, { io, act }: CommandContext, questions?: Prompter): void {
  withExamples(parent.command('init').description('Write a lab file from a preset'), [
    'stackloom lab init                              # asks, then writes lab.yaml',
    'stackloom lab init --preset four-node --domain openstack.internal',
    'stackloom lab init --preset three-node -f -     # to stdout',
  ])
    .option('-f, --file <file>', 'the file to write, - for stdout', 'lab.yaml')
    .addOption(new Option('--preset <preset>', 'number of nodes').choices(presetNames))
    .option('--name <name>', 'name of the lab; VM, disk and network names contain it')
    .option('--cores <number>', 'CPU cores of this machine')
    .option('--memory <size>', 'RAM of this machine, such as 96GiB')
    .option('--disk <size>', 'free disk space, such as 180GiB')
    .option('--domain <domain>', 'DNS domain of the lab')
    .addOption(new Option('--phase <phase>', 'storage backends').choices(['lvm', 'ceph', 'both']))
    .addOption(new Option('--containers <base>', 'distribution of the container images').choices(['debian', 'ubuntu']))
    .option('--overwrite', 'overwrite the file')
    .action((options: Options) =>
      act(async () => {
        const prompter = questions ?? (await openPrompter(io.interactive))
        const text = renderPreset(await gatherLabAnswers(options, prompter))
        const { findings } = readLab(text, options.file)
        if (hasErrors(findings)) throw new Failure(findings, 2)
        if (options.file === '-') io.stdout(text)
        else {
          await writeNewFile(options.file, text, io, options.overwrite ?? false)
          io.stderr(`${options.file} is written. Next: stackloom lab check -f ${options.file}\n`)
        }
        return 0
      }),
    )
}

export async function gatherLabAnswers(
  options: Partial<Options>,
  prompter: Prompter | undefined,
): Promise<PresetAnswers> {
  const { text, choose } = createAnswers(prompter)
  return {
    preset: await choose(options.preset, 'How many nodes?', ['three-node', 'four-node']),
    name: await text(options.name, 'Name of the lab', defaultAnswers.name),
    cores: Number(await text(options.cores, 'CPU cores of this machine', String(defaultAnswers.cores))),
    memory: await text(options.memory, 'RAM of this machine', defaultAnswers.memory),
    disk: await text(options.disk, 'Free disk space', defaultAnswers.disk),
    domain: await text(options.domain, 'DNS domain', defaultAnswers.domain),
    phase: await choose(options.phase, 'Storage', ['lvm', 'both', 'ceph']),
    containers: await choose(options.containers, 'Container images', ['debian', 'ubuntu']),
  }
}
