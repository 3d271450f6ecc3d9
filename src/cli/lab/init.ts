/** Defines `lab init`, which writes a preset lab file. At a terminal it asks for the answers that no option gives. */
import path from 'node:path'
import { type Command, Option } from 'commander'
import { Failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { defaultAnswers, type PresetAnswers, presetNames, renderPreset } from '../../lab/presets.ts'
import { readLab } from '../../lab/read-lab.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { refuseExisting, writeNewFile } from '../files.ts'
import { printFindings } from '../output/findings.ts'
import { type AnswerCheck, createAnswers, openPrompter, type Prompter } from '../questions.ts'
import { schemaFileName, writeSchema } from '../schema/schema-file.ts'

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
        const { file, overwrite = false } = options
        // Before the first question, so that no answer is lost.
        if (file !== '-') refuseExisting(file, io, overwrite)
        const prompter = questions ?? (await openPrompter(io.interactive))
        const { answers, assumed } = await gatherLabAnswers(options, prompter)
        const schema = schemaFileName(file)
        const text = renderPreset(answers, schema)
        const { lab, findings } = readLab(text, file)
        if (!lab) throw new Failure(findings, 2)
        if (assumed.length > 0)
          io.stderr(`assumed, because no option gives it:\n${assumed.map((line) => `  ${line}\n`).join('')}`)
        if (schema === undefined) io.stdout(text)
        else {
          await writeNewFile(file, text, io, overwrite)
          await writeSchema('lab', path.join(path.dirname(file), schema), io)
          io.stderr(`${file} is written. Next: stackloom lab check -f ${file}\n`)
        }
        // A machine that does not suffice for the preset is no reason to lose the answers: the file is changed next.
        printFindings(
          findings.filter(({ severity }) => severity === 'error'),
          io,
        )
        return hasErrors(findings) ? 1 : 0
      }),
    )
}

export async function gatherLabAnswers(
  options: Partial<Options>,
  prompter: Prompter | undefined,
): Promise<{ readonly answers: PresetAnswers; readonly assumed: readonly string[] }> {
  const { text, choose, assumed } = createAnswers(prompter)
  const ofField =
    (field: keyof PresetAnswers): AnswerCheck =>
    (answer) =>
      findReason({ ...defaultAnswers, [field]: field === 'cores' ? Number(answer) : answer })
  const cores = String(defaultAnswers.cores)
  const answers: PresetAnswers = {
    preset: await choose(options.preset, 'How many nodes?', ['three-node', 'four-node']),
    name: await text(options.name, 'Name of the lab', defaultAnswers.name, ofField('name')),
    cores: Number(await text(options.cores, 'CPU cores of this machine', cores, ofField('cores'))),
    memory: await text(options.memory, 'RAM of this machine', defaultAnswers.memory, ofField('memory')),
    disk: await text(options.disk, 'Free disk space', defaultAnswers.disk, ofField('disk')),
    domain: await text(options.domain, 'DNS domain', defaultAnswers.domain, ofField('domain')),
    phase: await choose(options.phase, 'Storage', ['lvm', 'both', 'ceph']),
    containers: await choose(options.containers, 'Container images', ['debian', 'ubuntu']),
  }
  return { answers, assumed: assumed() }
}

/** Only the form of an answer: whether the machine suffices depends on all answers, and `lab check` says so. */
function findReason(answers: PresetAnswers): string | undefined {
  const { lab, findings } = readLab(renderPreset(answers), 'lab.yaml')
  return lab ? undefined : findings.find(({ severity }) => severity === 'error')?.message
}
