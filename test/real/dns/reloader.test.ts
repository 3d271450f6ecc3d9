/**
 * Runs the pod of a DNSMasq: dnsmasq and its reloader, with the files that a kubelet would write. After every change the
 * right answer comes, and there is an answer at every moment.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { count } from '../../counts.ts'
import { addressesOf, dig, missingPrograms, namesOf } from './ask.ts'
import { type ServedHosts, servedHosts } from './served.ts'

const soon = { timeout: 60_000, interval: 5 }
let served: ServedHosts | undefined
const refusal = missingPrograms()
/** The soak runs together with other work. */
const patience = { timeout: count({ test: 600_000, soak: 1_800_000 }) }

beforeEach((context) => {
  if (refusal !== undefined) context.skip(refusal)
})
afterEach(async () => {
  await served?.stop()
  served = undefined
})

async function start(...options: Parameters<typeof servedHosts>): Promise<ServedHosts> {
  served = await servedHosts(...options)
  return served
}

/** Queries a name without pause until stopped; counts answers and collects wrong ones. */
function constantQuestions(hosts: ServedHosts, name: string) {
  let asked = 0
  let over = false
  const wrong: string[] = []
  const running = (async () => {
    while (!over) {
      const answer = await addressesOf(hosts.server, name).catch((error: unknown) => [String(error)])
      asked += 1
      if (answer.length === 0 || answer.some((address) => !address.startsWith('10.')))
        wrong.push(`${asked}: ${answer.join(' ')}`)
    }
  })()
  return {
    stop: async () => {
      over = true
      await running
      return { asked, wrong }
    },
  }
}

describe('changes of hosts', { timeout: 240_000 }, () => {
  it('reach the server: a new name, a changed address, a removed name, a removed source', async () => {
    const hosts = await start({
      sources: { a: '10.0.0.1 old.example.com\n', b: '10.0.0.2 other.example.com\n' },
    })
    expect(await addressesOf(hosts.server, 'old.example.com')).toEqual(['10.0.0.1'])
    hosts.serve({
      a: '10.0.0.3 old.example.com\n10.0.0.4 new.example.com\n',
      b: '10.0.0.2 other.example.com\n',
    })
    await expect.poll(() => addressesOf(hosts.server, 'new.example.com'), soon).toEqual(['10.0.0.4'])
    await expect.poll(() => addressesOf(hosts.server, 'old.example.com'), soon).toEqual(['10.0.0.3'])
    hosts.serve({ a: '10.0.0.3 old.example.com\n' })
    await expect.poll(() => addressesOf(hosts.server, 'new.example.com'), soon).toEqual([])
    await expect.poll(() => addressesOf(hosts.server, 'other.example.com'), soon).toEqual([])
    expect(await addressesOf(hosts.server, 'old.example.com')).toEqual(['10.0.0.3'])
    expect(await namesOf(hosts.server, '10.0.0.1')).toEqual([])
  })

  it('lose no answer, however many there are', patience, async () => {
    const rounds = count({ test: 200, soak: 2_000 })
    const hosts = await start({ sources: { a: '10.0.0.1 always.example.com\n' } })
    const questions = constantQuestions(hosts, 'always.example.com')
    for (let round = 2; round < rounds + 2; round += 1) {
      const address = `10.0.${round >> 7}.${round & 127}`
      hosts.serve({ a: `${address} always.example.com\n` })
      await expect.poll(() => addressesOf(hosts.server, 'always.example.com'), soon).toEqual([address])
    }
    const { asked, wrong } = await questions.stop()
    expect(wrong).toEqual([])
    expect(asked).toBeGreaterThan(rounds)
  })

  it('lose no answer when two names swap addresses', async () => {
    const hosts = await start({ sources: { a: '10.0.0.1 one.example.com\n10.0.0.2 two.example.com\n' } })
    const questions = [constantQuestions(hosts, 'one.example.com'), constantQuestions(hosts, 'two.example.com')]
    for (let round = 0; round < count({ test: 10, soak: 100 }); round += 1) {
      const [first, second] = round % 2 === 0 ? ['10.0.0.2', '10.0.0.1'] : ['10.0.0.1', '10.0.0.2']
      hosts.serve({ a: `${first} one.example.com\n${second} two.example.com\n` })
      await expect.poll(() => addressesOf(hosts.server, 'one.example.com'), soon).toEqual([first])
      await expect.poll(() => addressesOf(hosts.server, 'two.example.com'), soon).toEqual([second])
    }
    for (const question of questions) expect((await question.stop()).wrong).toEqual([])
  })

  it('keep a name that a second source has, forward and reverse', async () => {
    const hosts = await start({
      sources: { a: '10.0.0.1 both.example.com\n', b: '10.0.0.1 both.example.com\n' },
    })
    hosts.serve({ b: '10.0.0.1 both.example.com\n', c: '10.0.0.9 sign.example.com\n' })
    await expect.poll(() => addressesOf(hosts.server, 'sign.example.com'), soon).toEqual(['10.0.0.9'])
    expect(await addressesOf(hosts.server, 'both.example.com')).toEqual(['10.0.0.1'])
    expect(await namesOf(hosts.server, '10.0.0.1')).toEqual(['both.example.com'])
  })

  it('are read from the parts by a starting pod once all of them are there', async () => {
    const hosts = await start({ sources: { a: '10.0.0.1 moving.example.com\n' } })
    hosts.serve({ a: '10.0.0.2 moving.example.com\n' })
    await expect.poll(() => addressesOf(hosts.server, 'moving.example.com'), soon).toEqual(['10.0.0.2'])
    await hosts.server.stop()
    // The parts in the index are not there yet: no name is known, and nothing is wrong.
    hosts.bring((files) => ({ ...files, parts: `00.0000000000000000\n` }))
    await hosts.restart()
    expect(await addressesOf(hosts.server, 'moving.example.com')).toEqual([])
    hosts.bring((files) => files)
    await expect.poll(() => addressesOf(hosts.server, 'moving.example.com'), soon).toEqual(['10.0.0.2'])
  })

  it('are found by comparison when the kubelet is too late for the list of changes', async () => {
    const line = (at: number): string => `10.0.${at >> 7}.${at & 127} name-${at}.example.com\n`
    const hosts = await start({ sources: { a: line(1) + line(2) } })
    hosts.bring((files) => ({ ...files, number: '9\n', changes: '9 9\n' }))
    await expect.poll(() => hosts.server.log(), soon).toContain('hosts: 0 changed, 0 gone')
    hosts.bring((files) => {
      const [shard = ''] = (files['parts'] ?? '').split(' ')
      return { ...files, [shard]: line(3), number: '12\n', changes: '12 11\n12 10.0.0.2\n' }
    })
    await expect.poll(() => addressesOf(hosts.server, 'name-3.example.com'), soon).toEqual(['10.0.0.3'])
    await expect.poll(() => addressesOf(hosts.server, 'name-2.example.com'), soon).toEqual([])
  })

  it('are applied in groups when they are thousands, and old names resolve all the time', async () => {
    const all = Array.from(
      { length: count({ test: 1_000, soak: 10_000 }) },
      (_, at) => `10.1.${at >> 7}.${at & 127} many-${at}.example.com\n`,
    )
    const last = `many-${all.length - 1}.example.com`
    const long = { timeout: 300_000, interval: 50 }
    const hosts = await start({ sources: { a: '10.0.0.1 always.example.com\n' } })
    const questions = constantQuestions(hosts, 'always.example.com')
    hosts.serve({ a: '10.0.0.1 always.example.com\n', b: all.join('') })
    await expect.poll(() => hosts.server.log(), long).toContain(`hosts: ${all.length} changed, 0 gone`)
    await expect.poll(() => addressesOf(hosts.server, last), soon).toHaveLength(1)
    hosts.serve({ a: '10.0.0.1 always.example.com\n' })
    await expect.poll(() => hosts.server.log(), long).toContain(`hosts: 0 changed, ${all.length} gone`)
    await expect.poll(() => addressesOf(hosts.server, last), soon).toEqual([])
    // A removed address is added again.
    hosts.serve({ a: '10.0.0.1 always.example.com\n', b: all[0] ?? '' })
    await expect.poll(() => addressesOf(hosts.server, 'many-0.example.com'), soon).toHaveLength(1)
    expect((await questions.stop()).wrong).toEqual([])
  }, 600_000)

  it('reach a server that watches no files by a signal', async () => {
    // An older dnsmasq is simulated by one that reads its hosts only at a signal.
    const changeArgument = (word: string): string => word.replace('--hostsdir=', '--addn-hosts=')
    const hosts = await start({
      sources: { a: '10.0.0.1 a.example.com\n10.0.0.2 b.example.com\n' },
      env: { HOSTS_RELOAD: 'signal' },
      changeArgument,
    })
    hosts.serve({ a: '10.0.0.3 a.example.com\n' })
    await expect.poll(() => addressesOf(hosts.server, 'a.example.com'), soon).toEqual(['10.0.0.3'])
    expect(await addressesOf(hosts.server, 'b.example.com')).toEqual([])
  })
})

describe('the shell of the image', { timeout: 240_000 }, () => {
  it('may be bash: one change and a hundred reach the server, and the log has only the changes', async () => {
    const many = Array.from({ length: 100 }, (_, at) => `10.1.0.${at} many-${at}.example.com\n`).join('')
    const changeArgument = (word: string): string => (word === '/bin/sh' ? '/bin/bash' : word)
    const hosts = await start({ sources: { a: '10.0.0.1 a.example.com\n' }, changeArgument })
    for (const address of ['10.0.0.2', '10.0.0.3']) {
      hosts.serve({ a: `${address} a.example.com\n` })
      await expect.poll(() => addressesOf(hosts.server, 'a.example.com'), soon).toEqual([address])
    }
    hosts.serve({ a: `10.0.0.3 a.example.com\n${many}` })
    await expect.poll(() => addressesOf(hosts.server, 'many-99.example.com'), soon).toEqual(['10.1.0.99'])
    await expect.poll(() => hosts.server.log(), soon).toContain('hosts: 100 changed, 0 gone')
    const said = hosts.server.log().split('\n').filter(Boolean)
    expect(said.filter((line) => !/^dnsmasq(\[\d+\])?: |^hosts: /.test(line))).toEqual([])
  })
})

describe('what the reloader reads', { timeout: 240_000 }, () => {
  it('is skipped when it is not an address', async () => {
    const hosts = await start({
      sources: { a: 'host-ip-1 host1\n10.0.0.999 host2\n10.0.0.1 host3\n:: host4\n10.0.0 host5\n' },
    })
    for (const name of ['host1', 'host2', 'host5']) expect(await addressesOf(hosts.server, name)).toEqual([])
    expect(await addressesOf(hosts.server, 'host3')).toEqual(['10.0.0.1'])
    expect(hosts.server.log()).not.toContain('bad address')
  })
})

describe('the pod', { timeout: 240_000 }, () => {
  it('ends at a signal and when its server is killed; the next one has every name', async () => {
    const hosts = await start({ sources: { a: '10.0.0.1 a.example.com\n' } })
    // dnsmasq exits with 5 when it is stopped before it serves.
    expect(await addressesOf(hosts.server, 'a.example.com')).toEqual(['10.0.0.1'])
    await hosts.server.stop()
    expect(await hosts.server.ended).toBe(0)
    await hosts.restart()
    const [server] = /dnsmasq\[(\d+)\]: started/.exec(hosts.server.log())?.slice(1) ?? []
    process.kill(Number(server), 'SIGKILL')
    expect(await hosts.server.ended).toBe(137)
    hosts.serve({ a: '10.0.0.2 a.example.com\n' })
    await hosts.restart()
    expect(await addressesOf(hosts.server, 'a.example.com')).toEqual(['10.0.0.2'])
  })

  it('does not start with a configuration that dnsmasq refuses', async () => {
    const broken = start({ spec: { options: [{ key: 'server', values: ['nonsense#x'] }] } })
    await expect(broken).rejects.toThrow('the init container ended with 1')
  })

  it('answers over UDP and TCP, IPv4 and IPv6, forward and reverse', async () => {
    const text = '10.0.0.1 a.example.com alias.example.com\nfd00::1 a.example.com\n'
    const hosts = await start({ sources: { a: text } })
    for (const how of ['+notcp', '+tcp']) {
      expect(dig(hosts.server, how, 'a.example.com', 'A')).toEqual(['10.0.0.1'])
      expect(dig(hosts.server, how, 'alias.example.com', 'A')).toEqual(['10.0.0.1'])
      expect(dig(hosts.server, how, 'a.example.com', 'AAAA')).toEqual(['fd00::1'])
      expect(dig(hosts.server, how, '-x', '10.0.0.1')).toEqual(['a.example.com.'])
      expect(dig(hosts.server, how, '-x', 'fd00::1')).toEqual(['a.example.com.'])
    }
  })

  it('listens on IPv6', async () => {
    const hosts = await start({ sources: { a: 'fd00::1 six.example.com\n' }, address: '::1' })
    expect(await addressesOf(hosts.server, 'six.example.com', 6)).toEqual(['fd00::1'])
  })
})
