/** Defines `stackloom images`: lists the images of a site, and checks and configures a mirror for them. */
import { type Command, InvalidArgumentError } from 'commander'
import { withConnectionFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { outputOption } from '../output/format.ts'
import { siteFileOption } from '../site-file.ts'
import type { CheckFlags, ImageFlags, MirrorFlags } from './run-images.ts'

/** As in the tag of Red Hat's catalogs: `4.18`. */
function parseOpenshift(text: string): string {
  if (/^4\.\d{1,2}$/.test(text)) return text
  throw new InvalidArgumentError('a version of OpenShift is written 4.18')
}

export function define(command: Command, { io, act }: CommandContext): void {
  const actions = () => import('./run-images.ts')
  const sub = (name: string, description: string, examples: readonly string[]): Command =>
    withExamples(withConnectionFlags(command.command(name).description(description)), examples)
      .addOption(siteFileOption('site file, whose catalogs and packages count too'))
      .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
      .option('--offline', 'read the site file only, no cluster')

  sub('list', 'List every image of the clouds, the operators and their catalogs', [
    'stackloom images list',
    'stackloom images list -o name --from must-gather/',
    'stackloom images list --offline -f site.yaml',
  ])
    .addOption(outputOption(['table', 'json', 'yaml', 'name']))
    .action((options: ImageFlags) => act(async () => (await actions()).listImages(options, io)))

  sub('image-set', 'Print the ImageSetConfiguration that mirrors these images (oc-mirror v2)', [
    'stackloom images image-set > image-set.yaml',
    'stackloom images image-set --offline --openshift 4.18   # before the first deployment',
  ])
    .option(
      '--openshift <version>',
      'take packages of catalogs whose image is not known from the catalog of Red Hat for this version',
      parseOpenshift,
    )
    .addOption(outputOption(['json', 'yaml'], 'yaml'))
    .action((options: ImageFlags) => act(async () => (await actions()).printImageSet(options, io)))

  sub('host-settings', 'Print the Ansible variables with which hosts pull from a mirror', [
    'stackloom images host-settings --mirror registry.example.com:5000/mirror',
  ])
    .requiredOption('--mirror <registry>', 'the mirror: host, host:port or host/path')
    .addOption(outputOption(['json', 'yaml'], 'yaml'))
    .action((options: MirrorFlags) => act(async () => (await actions()).printHostSettings(options, io)))

  sub('check', 'Check that a mirror has every image; exit 1 if one is missing', [
    'stackloom images check --mirror registry.example.com:5000/mirror --authfile pull-secret.json',
  ])
    .requiredOption('--mirror <registry>', 'the mirror: host, host:port or host/path')
    .option('--authfile <file>', 'credentials of registries, as podman and oc read them')
    .option('--certificate-authority <file>', 'trust this CA (PEM) for the registry')
    .option('--plain-http', 'connect without TLS')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: CheckFlags) => act(async () => (await actions()).checkMirror(options, io)))
}
