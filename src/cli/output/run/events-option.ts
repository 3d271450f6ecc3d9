/** `--events`: how a run tells of its progress. The printers themselves are loaded when there is something to print. */
import { Option } from 'commander'

const eventFormats = ['auto', 'lines', 'jsonl'] as const
export type EventFormat = (typeof eventFormats)[number]

export function eventsOption(): Option {
  return new Option('--events <format>', 'progress on stderr').choices(eventFormats).default('auto')
}
