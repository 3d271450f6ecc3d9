/** The option `-f` of commands with a site file. */
import { Option } from 'commander'

export const SITE_FILE = 'site.yaml'

/** `-f`; what it is for differs between commands, its default does not. */
export function siteFileOption(use: string): Option {
  return new Option('-f, --file <file>', use).default(SITE_FILE).env('STACKLOOM_FILE')
}
