// The default theme's search box, with a line that says what is searched and whether its index is still loading.
import indexes from '@localSearchIndex';
import { useData, withBase } from 'vitepress';
import DefaultSearchBox from 'vitepress/dist/client/theme-default/components/VPLocalSearchBox.vue';
import { defineComponent, h, ref, Teleport } from 'vue';

const link = (path: string, text: string) => h('a', { href: withBase(path) }, text);

export default defineComponent({
  emits: ['close'],
  setup(_, { emit }) {
    const { localeIndex } = useData();
    const state = ref<'loading' | 'loaded' | 'failed'>('loading');
    indexes[localeIndex.value]().then(
      () => (state.value = 'loaded'),
      () => (state.value = 'failed'),
    );

    function message() {
      if (state.value === 'loading') return 'Loading the search index…';
      if (state.value === 'failed') return 'The search index did not load. Reload the page to try again.';
      return localeIndex.value === 'api'
        ? ['Searches the API reference. ', link('/start.html', 'The guides'), ' have their own search.']
        : ['Searches the guides. ', link('/api/', 'The API reference'), ' has its own search.'];
    }

    return () => [
      h(DefaultSearchBox, { onClose: () => emit('close') }),
      h(
        Teleport,
        { defer: true, to: '.VPLocalSearchBox .shell' },
        h('p', { class: 'search-state', role: 'status' }, message()),
      ),
    ];
  },
});
