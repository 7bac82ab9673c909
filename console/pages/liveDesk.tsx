// The live desk of the demo.
import { Page } from '../parts/page.js';
import { texts } from '../texts.js';

export function LiveDesk() {
  return (
    <Page title={texts.nav.liveDesk}>
      <p>{texts.desk.absent}</p>
    </Page>
  );
}
