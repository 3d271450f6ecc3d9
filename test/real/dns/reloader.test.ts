/**
 * The pod of a DNSMasq, really run: dnsmasq and its reloader, with the files that a kubelet would bring. What holds for
 * every change: the right answer comes, and at no moment is there none.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { count } from '../../counts.ts'
import { addressesOf, dig, missingPrograms, namesOf } from './ask.ts'
import { type ServedHosts, servedHosts } from './served.ts'

const soon = { timeout: 20_000, interval: 5 }
let served: ServedHosts | undefined
const refusal = missingPrograms()

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

/** Asks for a name without pause until told to stop; counts answers, and collects what was wrong with them. */
function constantQuestions(hosts: ServedHosts, name: string) {
  let asked = 0
  let over = false
  const wrong: string[] = []
  const running = (async () => {
    while (!over) {
      const answer = await addressesOf(hosts.server, name).catch((error: unknown) => [String(error)])
      asked += 1
      if (answer.length === 0 || answer.some((one) => !one.startsWith('10.')))
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

describe('changes of hosts', () => {
  it('reach the server: a new name, a changed address, a name that is gone, a source that is gone', async () => {
    const hosts = await start({
      sources: { a: '10.0.0.1 old.example.com\n', b: '10.0.0.2 other.example.com\n' },
    })
    expect(await addressesOf(hosts.server, 'old.example.com')).toEqual(['10.0.0.1'])
    await hosts.serve({
      a: '10.0.0.3 old.example.com\n10.0.0.4 new.example.com\n',
      b: '10.0.0.2 other.example.com\n',
    })
    await expect.poll(() => addressesOf(hosts.server, 'new.example.com'), soon).toEqual(['10.0.0.4'])
    await expect.poll(() => addressesOf(hosts.server, 'old.example.com'), soon).toEqual(['10.0.0.3'])
    await hosts.serve({ a: '10.0.0.3 old.example.com\n' })
    await expect.poll(() => addressesOf(hosts.server, 'new.example.com'), soon).toEqual([])
    await expect.poll(() => addressesOf(hosts.server, 'other.example.com'), soon).toEqual([])
    expect(await addressesOf(hosts.server, 'old.example.com')).toEqual(['10.0.0.3'])
    expect(await namesOf(hosts.server, '10.0.0.1')).toEqual([])
  })

  it('lose no answer, however many there are', async () => {
    const rounds = count({ test: 40, soak: 200 })
    const hosts = await start({ sources: { a: '10.0.0.1 always.example.com\n' } })
    const questions = constantQuestions(hosts, 'always.example.com')
    for (let round = 2; round < rounds + 2; round += 1) {
      const address = `10.0.${round >> 7}.${round & 127}`
      await hosts.serve({ a: `${address} always.example.com\n` })
      await expect.poll(() => addressesOf(hosts.server, 'always.example.com'), soon).toEqual([address])
    }
    const { asked, wrong } = await questions.stop()
    expect(wrong).toEqual([])
    expect(asked).toBeGreaterThan(rounds)
  })

  it('lose no answer when two names change places', async () => {
    const hosts = await start({ sources: { a: '10.0.0.1 one.example.com\n10.0.0.2 two.example.com\n' } })
    const questions = [
      constantQuestions(hosts, 'one.example.com'),
      constantQuestions(hosts, 'two.example.com'),
    ]
    for (let round = 0; round < count({ test: 10, soak: 100 }); round += 1) {
      const [first, second] = round % 2 === 0 ? ['10.0.0.2', '10.0.0.1'] : ['10.0.0.1', '10.0.0.2']
      await hosts.serve({ a: `${first} one.example.com\n${second} two.example.com\n` })
      await expect.poll(() => addressesOf(hosts.server, 'one.example.com'), soon).toEqual([first])
      await expect.poll(() => addressesOf(hosts.server, 'two.example.com'), soon).toEqual([second])
    }
    for (const one of questions) expect((await one.stop()).wrong).toEqual([])
  })

  it('leave a name that a second source has, forward and reverse', async () => {
    const hosts = await start({
      sources: { a: '10.0.0.1 both.example.com\n', b: '10.0.0.1 both.example.com\n' },
    })
    await hosts.serve({ b: '10.0.0.1 both.example.com\n', c: '10.0.0.9 sign.example.com\n' })
    await expect.poll(() => addressesOf(hosts.server, 'sign.example.com'), soon).toEqual(['10.0.0.9'])
    expect(await addressesOf(hosts.server, 'both.example.com')).toEqual(['10.0.0.1'])
    expect(await namesOf(hosts.server, '10.0.0.1')).toEqual(['both.example.com'])
  })

  it('wait for the parts that belong together: half of a change is no change', async () => {
    const hosts = await start({ sources: { a: '10.0.0.1 moving.example.com\n' } })
    let before = {}
    await hosts.bring((files) => (before = files))
    const moved = { a: '10.0.0.2 moving.example.com\n10.0.0.3 sign.example.com\n' }
    // The new index alone: none of its files is there yet.
    await hosts.bring(() => ({ ...before, index: '00.0000000000000000\n' }))
    expect(await addressesOf(hosts.server, 'moving.example.com')).toEqual(['10.0.0.1'])
    await hosts.serve(moved)
    await expect.poll(() => addressesOf(hosts.server, 'sign.example.com'), soon).toEqual(['10.0.0.3'])
    await expect.poll(() => addressesOf(hosts.server, 'moving.example.com'), soon).toEqual(['10.0.0.2'])
  })

  it('may be thousands at once: told by one signal, and the old names answer', async () => {
    const all = Array.from(
      { length: count({ test: 1_000, soak: 10_000 }) },
      (_, at) => `10.1.${at >> 7}.${at & 127} many-${at}.example.com\n`,
    )
    const hosts = await start({ sources: { a: '10.0.0.1 always.example.com\n' } })
    const questions = constantQuestions(hosts, 'always.example.com')
    await hosts.serve({ a: '10.0.0.1 always.example.com\n', b: all.join('') })
    await expect
      .poll(() => addressesOf(hosts.server, `many-${all.length - 1}.example.com`), soon)
      .toHaveLength(1)
    expect(hosts.server.log()).toContain(`hosts: ${all.length} changed, 0 gone, quietly`)
    await hosts.serve({ a: '10.0.0.1 always.example.com\n' })
    await expect.poll(() => addressesOf(hosts.server, 'many-0.example.com'), soon).toEqual([])
    // An address that was emptied behind the server's back comes again.
    await hosts.serve({ a: '10.0.0.1 always.example.com\n', b: all[0] ?? '' })
    await expect.poll(() => addressesOf(hosts.server, 'many-0.example.com'), soon).toHaveLength(1)
    expect((await questions.stop()).wrong).toEqual([])
  })

  it('reach a server that watches nothing, by a signal', async () => {
    // What an older dnsmasq makes of a watched folder, told by one that reads it at a signal only.
    const changeArgument = (word: string): string => word.replace('--hostsdir=', '--addn-hosts=')
    const hosts = await start({
      sources: { a: '10.0.0.1 a.example.com\n10.0.0.2 b.example.com\n' },
      env: { HOSTS_RELOAD: 'signal' },
      changeArgument,
    })
    await hosts.serve({ a: '10.0.0.3 a.example.com\n' })
    await expect.poll(() => addressesOf(hosts.server, 'a.example.com'), soon).toEqual(['10.0.0.3'])
    expect(await addressesOf(hosts.server, 'b.example.com')).toEqual([])
  })
})

describe('what the reloader reads', () => {
  it('is left out where it is no address', async () => {
    const hosts = await start({
      sources: { a: 'host-ip-1 host1\n10.0.0.999 host2\n10.0.0.1 host3\n:: host4\n10.0.0 host5\n' },
    })
    for (const name of ['host1', 'host2', 'host5']) expect(await addressesOf(hosts.server, name)).toEqual([])
    expect(await addressesOf(hosts.server, 'host3')).toEqual(['10.0.0.1'])
    expect(hosts.server.log()).not.toContain('bad address')
  })
})

describe('the pod', () => {
  it('ends when it is told to, and when its server is killed; the next one has every name', async () => {
    const hosts = await start({ sources: { a: '10.0.0.1 a.example.com\n' } })
    // Told to end before it serves, dnsmasq ends with 5.
    expect(await addressesOf(hosts.server, 'a.example.com')).toEqual(['10.0.0.1'])
    await hosts.server.stop()
    expect(await hosts.server.ended).toBe(0)
    await hosts.restart()
    const [server] = /dnsmasq\[(\d+)\]: started/.exec(hosts.server.log())?.slice(1) ?? []
    process.kill(Number(server), 'SIGKILL')
    expect(await hosts.server.ended).toBe(137)
    await hosts.serve({ a: '10.0.0.2 a.example.com\n' })
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
