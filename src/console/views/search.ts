/** Answers the search field exactly as `stackloom ip` does, with the reason and the live holders. Pure. */
import { closestMatch } from '../../errors/closest-match.ts'
import { parseAddress } from '../../net/address.ts'
import { type Answer, explainOrigin, findAddressOrigin, knownNames, lookUp } from '../../plan/lookup.ts'
import { findHolders, holderFindings } from '../../verify/address-holders.ts'
import type { SearchDocument } from '../documents/search.ts'
import { commandLine, type PlannedSite, type ViewInput } from './view-input.ts'

type Body<T> = Omit<T, 'version' | 'notes'>
type ShownAnswer = SearchDocument['answers'][number]

export function search(input: ViewInput, query: string): Body<SearchDocument> {
  const { planned, live } = input
  const held = live?.held.map(({ address }) => address)
  const found = planned ? lookUp(planned.plan, query, held) : []
  const answers = planned ? found.map((answer) => showAnswer(answer, planned)) : []
  const addresses = parseAddress(query)
    ? [query]
    : [...new Set(found.flatMap((answer) => (answer.kind === 'name' ? answer.addresses : [])))].map(
        ({ address }) => address,
      )
  const holders = live && addresses.map((address) => ({ address, holders: findHolders(live.index, address) }))
  const owners = found.flatMap((answer) => (answer.kind === 'address' ? [answer.namespace] : []))
  const findings = (holders ?? []).flatMap((entry) => holderFindings(entry.address, entry.holders, owners))
  const nearest = planned && answers.length === 0 ? closestMatch(query, knownNames(planned.plan)) : undefined
  return {
    command: commandLine('ip', query, ...input.fileOptions, ...(live ? ['--live', ...input.clusterOptions] : [])),
    query,
    answers,
    ...(holders && { live: holders }),
    findings,
    ...(nearest !== undefined && { suggestion: nearest }),
    text: describe(query, answers, holders ?? []),
  }
}

function showAnswer(answer: Answer, planned: PlannedSite): ShownAnswer {
  if (answer.kind === 'cluster') return answer
  if (answer.kind === 'name') {
    const addresses = answer.addresses.map((entry) => ({
      ...entry,
      link: networkLink(entry.cloud, entry.network, entry.address),
    }))
    return { ...answer, addresses }
  }
  const origin = findAddressOrigin(planned.plan, planned.before, answer)
  return {
    ...answer,
    ...(origin && { because: explainOrigin(origin, planned) }),
    link: networkLink(answer.cloud, answer.network, answer.address),
  }
}

function networkLink(cloud: string, network: string, address: string) {
  return { view: 'addresses', query: { cloud, network, selected: address } } as const
}

/** One sentence; the tables below it have the rest. */
const NAMED_HOLDERS = 3

function describe(query: string, answers: readonly ShownAnswer[], live: NonNullable<SearchDocument['live']>): string {
  const planned = answers.map((answer) => {
    if (answer.kind === 'cluster') return `${answer.address} is in the cluster's ${answer.use} network ${answer.cidr}`
    if (answer.kind === 'name') {
      const places = answer.addresses.map(({ address, cloud, network }) => `${address} in ${cloud}/${network}`)
      return `${answer.name} has ${places.join(', ')}`
    }
    const holder = answer.holders.join(', ') || 'no planned holder'
    return `${answer.address} in ${answer.cloud}/${answer.network}: ${holder}`
  })
  // Of a name it says which addresses; of an address, what has it.
  const held = parseAddress(query) ? live.flatMap(({ holders }) => holders.filter(({ kind }) => kind === 'has')) : []
  const more = held.length - NAMED_HOLDERS
  const named = held.slice(0, NAMED_HOLDERS).map(({ who: holder }) => `${holder} has it`)
  const sentence = [...planned, ...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return sentence || `${query} is not in the plan, and nothing has it`
}
