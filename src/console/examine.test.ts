import { describe, expect, it } from 'vitest'
import { manualClock } from '../../test/manual-clock.ts'
import { faults, healthy, plan } from '../../test/verify/faults.ts'
import { indexSnapshot } from '../api/snapshot.ts'
import { renderDocuments } from '../render/render.ts'
import { checks } from '../verify/checks.ts'
import { verify } from '../verify/verify.ts'
import { examineCluster } from './examine.ts'

describe('the examination of the console', () => {
  it.each([['nothing', healthy], ...faults.map(([name, snapshot]) => [name, snapshot] as const)] as const)(
    'finds what `verify` finds, with less memory: %s',
    async (_, snapshot) => {
      const clock = manualClock()
      const index = indexSnapshot(snapshot)
      const { unread } = snapshot
      const source = { index: () => index, unread: () => unread }
      const examined = await examineCluster(source, async () => snapshot, plan, clock)
      const input = { plan, documents: renderDocuments(plan), kept: [], live: index, unread, now: clock.now() }
      expect(examined.checks).toEqual(verify(checks, input))
    },
  )
})
