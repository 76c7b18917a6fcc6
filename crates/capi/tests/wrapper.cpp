// The classes of tagmac.hpp. Usage: wrapper FOLDER, with the folder of files.c.
#include <tagmac.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#define CHECK(it)                                                                                  \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            std::cerr << __FILE__ << ":" << __LINE__ << ": " #it " does not hold\n";               \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// Runs `call`, which must throw. Returns the status.
template <typename Call> static int thrown(Call call) {
    try {
        call();
    } catch (const tagmac::error &error) {
        CHECK(*error.what() != 0);
        CHECK((error.status() == TAGMAC_MISMATCH) ==
              (dynamic_cast<const tagmac::mismatch *>(&error) != nullptr));
        return error.status();
    }
    return 0;
}

static void messages() {
    const std::array<std::uint8_t, 16> bytes{1, 2, 3};
    tagmac::key key("PMAC-AES128", bytes);
    const tagmac::bytes tag = key.tag("pay 100 to Bob");
    key.verify("pay 100 to Bob", tag);
    CHECK(key.matches(std::string("pay 100 to Bob"), tag));
    CHECK(!key.matches("pay 900 to Bob", tag));
    CHECK(thrown([&] { key.verify("pay 900 to Bob", tag); }) == TAGMAC_MISMATCH);
    CHECK(thrown([&] { (void)key.matches("", {tag.data(), 15}); }) == TAGMAC_MISUSE);
    CHECK(thrown([&] { tagmac::key("no such", bytes); }) == TAGMAC_MISUSE);
    CHECK(thrown([&] { key.tag("", bytes); }) == TAGMAC_MISUSE);
    CHECK(key.tag_size() == 16 && std::string_view(key.algorithm()) == "PMAC-AES128");

    // A key that was moved, and the one that was moved away.
    tagmac::key moved = std::move(key);
    CHECK(moved.tag("pay 100 to Bob") == tag);
    CHECK(thrown([&] { key.tag("pay 100 to Bob"); }) == TAGMAC_MISUSE);
    key = std::move(moved);
    CHECK(key.tag("pay 100 to Bob") == tag);
#if defined(__cpp_lib_span)
    const std::span<const std::uint8_t> span(bytes);
    CHECK(key.matches(span, key.tag(bytes)));
    CHECK(key.matches(std::as_bytes(span), key.tag(bytes)));
#endif

    const std::vector<tagmac::view> many{"one", "two", ""};
    tagmac::bytes tags = key.tag_many(many);
    CHECK(tags.size() == 48 && key.matches("two", {tags.data() + 16, 16}));
    CHECK((key.verify_many(many, tags) == std::vector<bool>{true, true, true}));
    tags[17] ^= 1;
    CHECK((key.verify_many(many, tags) == std::vector<bool>{true, false, true}));
    CHECK(thrown([&] { key.tag_many(many, "nonces", 2); }) == TAGMAC_MISUSE);
    CHECK(thrown([&] { key.tag_many(many, "nonces"); }) == TAGMAC_MISUSE);
    CHECK(key.tag_many({}).empty());
}

static void streams() {
    tagmac::key key = tagmac::key::generate("UMAC-64");
    tagmac::stream stream = key.start("nonce 01");
    stream.update("pay 100 ");
    tagmac::stream copy = stream.copy();
    const tagmac::bytes tag = stream.update("to Bob").final();
    CHECK(key.matches("pay 100 to Bob", tag, "nonce 01"));
    CHECK(copy.copy().update("to Bob").matches(tag));
    CHECK(thrown([&] { copy.final(); }) == TAGMAC_MISUSE);
    stream.next("nonce 02");
    const tagmac::bytes saved = stream.update("half").save();
    CHECK(thrown([&] { stream.save(); }) == TAGMAC_MISUSE);
    CHECK(key.matches("half a message", key.restore(saved).update(" a message").final(), "nonce 02"));
    CHECK(thrown([&] { key.restore("no state"); }) == TAGMAC_INPUT);

    tagmac::session session(key, 8, 1500, 1e-9);
    session.reserve(3);
    const tagmac::bytes disk = session.save();
    const auto packet = session.tag("packet");
    CHECK(key.matches("packet", packet.tag, packet.nonce));
    CHECK(session.matches("packet", packet.tag, packet.nonce));
    CHECK(session.counts().reserved == 2);
    tagmac::session again(key, disk, 1500, 1e-9);
    CHECK(thrown([&] { again.tag("packet"); }) == TAGMAC_LIMIT);
}

static void files(const std::string &folder) {
    const std::string path = folder + "/wrapper.key";
    tagmac::key::generate().save(path);
    CHECK(tagmac::key::load(path, 64).tag_size() == 8);
    CHECK(std::remove(path.c_str()) == 0);
    CHECK(thrown([&] { tagmac::key::load(path); }) == TAGMAC_INPUT);

    const tagmac::key key = tagmac::key::load(folder + "/tree.key");
    const std::string text(300000, 'a'), file = folder + "/tree/long";
    CHECK(key.tag_file(file) == key.tag(text));
    CHECK(key.matches_file(file, key.tag(text)) && !key.matches_file(file, key.tag("")));
    std::uint64_t last = 0;
    const auto watch = [&last](std::uint64_t done, std::uint64_t) {
        last = done;
        return true;
    };
    key.tag_file(file, {}, 2, watch);
    CHECK(last == 300000);
    const auto stop = [](std::uint64_t, std::uint64_t) { return false; };
    CHECK(thrown([&] { key.tag_file(file, {}, 2, stop); }) == TAGMAC_STOPPED);
    const auto fail = [](std::uint64_t, std::uint64_t) -> bool { throw std::string("mine"); };
    try {
        key.tag_file(file, {}, 2, fail);
        CHECK(false);
    } catch (const std::string &mine) {
        CHECK(mine == "mine");
    }

    tagmac::range left(key, "photo", "v1", 0, false), right(key, "photo", "v1", 64, true);
    const tagmac::bytes two = right.update(std::string(9, 'a')).seal();
    const tagmac::bytes one = left.update(std::string(64, 'a')).seal();
    CHECK(key.combine("photo", "v1", {two, one}) == key.tag(std::string(73, 'a')));

    const tagmac::manifest manifest(key, folder + "/tree.manifest");
    const tagmac::content content(manifest, "long");
    CHECK(manifest.sequence() == 1 && content.size() == 300000);
    content.verify(content.leaf(), tagmac::view(text.data(), content.leaf()));
    CHECK(thrown([&] { content.verify(0, "other"); }) == TAGMAC_MISMATCH);
    const tagmac::file opened(manifest, folder + "/tree", "long");
    CHECK(opened.read(299990, 77) == tagmac::bytes(10, 'a'));
    CHECK(opened.read(300001, 77).empty() && opened.size() == 300000);
    CHECK(thrown([&] { tagmac::file(manifest, folder, "none"); }) == TAGMAC_INPUT);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    messages();
    streams();
    files(argv[1]);
    std::cout << "C++ " << __cplusplus / 100 << "\n";
}
