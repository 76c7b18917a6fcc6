// tagmac for C++17, in one header: objects that free themselves, views of bytes, and exceptions
// instead of statuses. tagmac.h and tagmac_files.h document the calls; link as from C.
//
//     tagmac::key key = tagmac::key::load("my.key");
//     std::vector<std::uint8_t> tag = key.tag("pay 100 to Bob");
//     key.verify("pay 100 to Bob", tag);          // throws tagmac::mismatch if it is wrong
//     if (key.matches("pay 100 to Bob", tag)) ...  // the same as a bool
//
// Objects can be moved, and an object that was moved away can only be destroyed or assigned to.
// Threads: many threads may call the const functions of an object at the same time; any other
// function must be the only one.
#ifndef TAGMAC_HPP
#define TAGMAC_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

#include "tagmac.h"
#if !defined(_WIN32)
#include "tagmac_files.h"
#endif

namespace tagmac {

using bytes = std::vector<std::uint8_t>;

// Bytes that belong to somebody else: of a string, a vector, an array or a std::span.
class view {
public:
    constexpr view() noexcept = default;
    constexpr view(const std::uint8_t *data, std::size_t size) noexcept
        : data_(data), size_(size) {}
    view(const void *data, std::size_t size) noexcept
        : data_(static_cast<const std::uint8_t *>(data)), size_(size) {}
    view(const bytes &from) noexcept : data_(from.data()), size_(from.size()) {}
    template <std::size_t N>
    constexpr view(const std::array<std::uint8_t, N> &from) noexcept
        : data_(from.data()), size_(N) {}
    view(std::string_view from) noexcept : view(from.data(), from.size()) {}
    view(const std::string &from) noexcept : view(from.data(), from.size()) {}
    // The characters up to the first NUL.
    view(const char *from) noexcept : view(std::string_view(from)) {}
    template <std::size_t N>
    constexpr view(const std::uint8_t (&from)[N]) noexcept : data_(from), size_(N) {}
#if defined(__cpp_lib_span)
    constexpr view(std::span<const std::uint8_t> from) noexcept
        : data_(from.data()), size_(from.size()) {}
    view(std::span<const std::byte> from) noexcept : view(from.data(), from.size()) {}
#endif

    constexpr const std::uint8_t *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }

private:
    const std::uint8_t *data_ = nullptr;
    std::size_t size_ = 0;
};

// A call that failed. what() is one line, which never contains a key, a message or a correct tag.
class error : public std::runtime_error {
public:
    error(int status, const std::string &line) : std::runtime_error(line), status_(status) {}
    // TAGMAC_MISUSE and so on.
    int status() const noexcept { return status_; }

private:
    int status_;
};

// A wrong tag, or data that is not the sealed one.
class mismatch : public error {
public:
    explicit mismatch(const std::string &line) : error(TAGMAC_MISMATCH, line) {}
};

// Throws the error of the last call of this thread unless `status` is 0.
inline void check(int status) {
    if (status == TAGMAC_OK) {
        return;
    }
    std::array<char, 4096> line{};
    tagmac_error_string(line.data(), line.size());
    if (status == TAGMAC_MISMATCH) {
        throw mismatch(line.data());
    }
    throw error(status, line.data());
}

// False for TAGMAC_MISMATCH; throws for any other failure.
inline bool passes(int status) {
    if (status == TAGMAC_MISMATCH) {
        return false;
    }
    check(status);
    return true;
}

namespace detail {

// An object of C, which must not move.
template <typename T, int (*Free)(T *)> class holder {
public:
    holder() : at_(new T()) {}
    T *get() const noexcept { return at_.get(); }

private:
    struct freed {
        void operator()(T *at) const noexcept {
            Free(at);
            delete at;
        }
    };
    std::unique_ptr<T, freed> at_;
};

// Calls `write(buffer, room, &size)` for a result whose size is not known before.
template <typename Write> bytes sized(Write write) {
    std::size_t size = 0;
    const int status = write(nullptr, 0, &size);
    if (size == 0) {
        check(status);
        return {};
    }
    bytes out(size);
    check(write(out.data(), out.size(), &size));
    return out;
}

} // namespace detail

class stream;

// A key and its algorithm.
class key {
public:
    // The bytes are copied: wipe yours. `tag_bits` of 0 selects the longest tags.
    key(const char *algorithm, view key_bytes, std::size_t tag_bits = 0) {
        check(tagmac_key_init(get(), algorithm, key_bytes.data(), key_bytes.size(), tag_bits));
    }

    // A new random key.
    static key generate(const char *algorithm = "PMAC-AES128", std::size_t tag_bits = 0) {
        key made;
        check(tagmac_keygen(made.get(), algorithm, tag_bits));
        return made;
    }

    // The key of a key file.
    static key load(const std::string &path, std::size_t tag_bits = 0) {
        key made;
        check(tagmac_key_load(made.get(), path.c_str(), tag_bits));
        return made;
    }

    // The key of a key file's text.
    static key parse(std::string_view text, std::size_t tag_bits = 0) {
        key made;
        check(tagmac_key_parse(made.get(), text.data(), text.size(), tag_bits));
        return made;
    }

    // Writes a new key file.
    void save(const std::string &path) const { check(tagmac_key_save(get(), path.c_str())); }

    const char *algorithm() const { return tagmac_key_algorithm(get()); }
    std::size_t tag_size() const { return tagmac_key_tag_size(get()); }
    std::array<std::uint8_t, 8> id() const {
        std::array<std::uint8_t, 8> id{};
        check(tagmac_key_id(get(), id.data(), id.size()));
        return id;
    }

    // Never use a nonce for two messages under the same key.
    bytes tag(view message, view nonce = {}) const {
        bytes tag(tag_size());
        check(tagmac_key_tag(get(), tag.data(), tag.size(), nonce.data(), nonce.size(),
                             message.data(), message.size()));
        return tag;
    }

    void verify(view message, view tag, view nonce = {}) const {
        check(verified(message, tag, nonce));
    }

    [[nodiscard]] bool matches(view message, view tag, view nonce = {}) const {
        return passes(verified(message, tag, nonce));
    }

    // The tags of many messages, one after another. `nonces` has one of `nonce_size` bytes for each.
    bytes tag_many(const std::vector<view> &messages, view nonces = {},
                   std::size_t nonce_size = 0) const {
        each_has_its_nonce(messages, nonces, nonce_size);
        const std::vector<tagmac_bytes> list = listed(messages);
        bytes tags(list.size() * tag_size());
        check(tagmac_tag_many(get(), tags.data(), tags.size(), nonces.data(), nonce_size,
                              list.data(), list.size()));
        return tags;
    }

    // Whether each message has its tag.
    [[nodiscard]] std::vector<bool> verify_many(const std::vector<view> &messages, view tags,
                                                view nonces = {},
                                                std::size_t nonce_size = 0) const {
        each_has_its_nonce(messages, nonces, nonce_size);
        const std::vector<tagmac_bytes> list = listed(messages);
        bytes verdicts(list.size());
        passes(tagmac_verify_many(get(), tags.data(), tags.size(), nonces.data(), nonce_size,
                                  list.data(), list.size(), verdicts.data()));
        return std::vector<bool>(verdicts.begin(), verdicts.end());
    }

    // Starts a message in pieces.
    inline stream start(view nonce = {}) const;
    // Continues a saved message.
    inline stream restore(view saved) const;

#if !defined(_WIN32)
    // The tag of a file. `progress(done, total)` returns whether to go on; if it throws, the call
    // stops and throws the same.
    bytes tag_file(const std::string &path, view nonce = {}, std::size_t threads = 0) const {
        return tag_file(path, nonce, threads, [](std::uint64_t, std::uint64_t) { return true; });
    }

    template <typename Progress>
    bytes tag_file(const std::string &path, view nonce, std::size_t threads,
                   Progress progress) const {
        watched<Progress> watch{&progress, nullptr};
        bytes tag(tag_size());
        const int status =
            tagmac_file_tag(get(), tag.data(), tag.size(), nonce.data(), nonce.size(),
                            path.c_str(), threads, watched<Progress>::call, &watch);
        if (watch.thrown) {
            std::rethrow_exception(watch.thrown);
        }
        check(status);
        return tag;
    }

    [[nodiscard]] bool matches_file(const std::string &path, view tag, view nonce = {},
                                    std::size_t threads = 0) const {
        return passes(tagmac_file_verify(get(), tag.data(), tag.size(), nonce.data(), nonce.size(),
                                         path.c_str(), threads, nullptr, nullptr));
    }

    // The tag of an object from the partials of its ranges.
    bytes combine(const std::string &object, const std::string &version,
                  const std::vector<view> &partials, view nonce = {}) const {
        const std::vector<tagmac_bytes> list = listed(partials);
        bytes tag(tag_size());
        check(tagmac_combine(get(), tag.data(), tag.size(), nonce.data(), nonce.size(),
                             object.c_str(), version.c_str(), list.data(), list.size()));
        return tag;
    }
#endif

    // The object of C, for its other calls. It ends with the key.
    tagmac_key *get() const noexcept { return held_.get(); }

private:
    key() = default;

    int verified(view message, view tag, view nonce) const {
        return tagmac_key_verify(get(), tag.data(), tag.size(), nonce.data(), nonce.size(),
                                 message.data(), message.size());
    }

    static std::vector<tagmac_bytes> listed(const std::vector<view> &views) {
        std::vector<tagmac_bytes> list;
        list.reserve(views.size());
        for (const view &one : views) {
            list.push_back({one.data(), one.size()});
        }
        return list;
    }

    static void each_has_its_nonce(const std::vector<view> &messages, view nonces,
                                   std::size_t nonce_size) {
        if (nonce_size == 0 ? nonces.size() != 0
                            : nonces.size() % nonce_size != 0 ||
                                  nonces.size() / nonce_size != messages.size()) {
            throw error(TAGMAC_MISUSE, "expected one nonce for each message");
        }
    }

#if !defined(_WIN32)
    template <typename Progress> struct watched {
        Progress *progress;
        std::exception_ptr thrown;

        // No exception may pass through C.
        static int call(void *context, std::uint64_t done, std::uint64_t total) noexcept {
            auto *self = static_cast<watched *>(context);
            try {
                return (*self->progress)(done, total) ? 0 : 1;
            } catch (...) {
                self->thrown = std::current_exception();
                return 1;
            }
        }
    };
#endif

    detail::holder<tagmac_key, tagmac_key_free> held_;
};

// A message in pieces.
class stream {
public:
    explicit stream(const key &key, view nonce = {}) {
        check(tagmac_stream_init(get(), key.get(), nonce.data(), nonce.size()));
        size_ = key.tag_size();
    }

    stream &update(view data) {
        check(tagmac_stream_update(get(), data.data(), data.size()));
        return *this;
    }

    // Ends the message.
    bytes final() {
        bytes tag(size_);
        check(tagmac_stream_final(get(), tag.data(), tag.size()));
        return tag;
    }

    // Ends the message.
    void verify(view tag) { check(tagmac_stream_verify(get(), tag.data(), tag.size())); }
    [[nodiscard]] bool matches(view tag) {
        return passes(tagmac_stream_verify(get(), tag.data(), tag.size()));
    }

    // Begins the next message.
    void next(view nonce = {}) { check(tagmac_stream_next(get(), nonce.data(), nonce.size())); }

    // Copies the message so far. Of copies with a nonce, only one has a tag.
    stream copy() const {
        stream made;
        check(tagmac_stream_copy(made.get(), get()));
        made.size_ = size_;
        return made;
    }

    // The state so far, for key::restore. With a nonce, the stream ends here.
    bytes save() {
        return detail::sized([this](std::uint8_t *out, std::size_t room, std::size_t *size) {
            return tagmac_stream_save(get(), out, room, size);
        });
    }

    tagmac_stream *get() const noexcept { return held_.get(); }

private:
    friend class key;
    stream() = default;

    detail::holder<tagmac_stream, tagmac_stream_free> held_;
    std::size_t size_ = 0;
};

inline stream key::start(view nonce) const { return stream(*this, nonce); }

inline stream key::restore(view saved) const {
    stream made;
    check(tagmac_stream_restore(made.get(), get(), saved.data(), saved.size()));
    made.size_ = tag_size();
    return made;
}

// A sender of packets. See tagmac_session in tagmac.h: STORE BEFORE YOU USE.
class session {
public:
    struct packet {
        bytes tag, nonce;
    };
    struct count {
        std::uint64_t used, left, reserved;
    };

    // Nonces of `nonce_size` bytes count up from zero. Only where the key is made.
    session(const key &key, std::size_t nonce_size, std::uint64_t max_message, double probability)
        : tag_size_(key.tag_size()) {
        check(tagmac_session_init(get(), key.get(), nullptr, nonce_size, max_message, probability));
    }

    // Continues a saved session.
    session(const key &key, view saved, std::uint64_t max_message, double probability)
        : tag_size_(key.tag_size()) {
        check(tagmac_session_restore(get(), key.get(), saved.data(), saved.size(), max_message,
                                     probability));
    }

    void reserve(std::uint64_t messages) { check(tagmac_session_reserve(get(), messages)); }

    bytes save() {
        bytes saved(TAGMAC_SESSION_SAVED);
        check(tagmac_session_save(get(), saved.data(), saved.size()));
        return saved;
    }

    packet tag(view message) {
        packet made{bytes(tag_size_), bytes(tagmac_session_nonce_size(get()))};
        check(tagmac_session_tag(get(), made.tag.data(), made.tag.size(), made.nonce.data(),
                                 made.nonce.size(), message.data(), message.size()));
        return made;
    }

    [[nodiscard]] bool matches(view message, view tag, view nonce) {
        return passes(tagmac_session_verify(get(), tag.data(), tag.size(), nonce.data(),
                                            nonce.size(), message.data(), message.size(), 0));
    }

    count counts() const {
        count found{};
        check(tagmac_session_counts(get(), &found.used, &found.left, &found.reserved));
        return found;
    }

    tagmac_session *get() const noexcept { return held_.get(); }

private:
    detail::holder<tagmac_session, tagmac_session_free> held_;
    std::size_t tag_size_;
};

#if !defined(_WIN32)

// A range of an object, which is being hashed to a partial.
class range {
public:
    range(const key &key, const std::string &object, const std::string &version,
          std::uint64_t start, bool is_last) {
        check(tagmac_range_init(get(), key.get(), object.c_str(), version.c_str(), start, is_last));
    }

    range &update(view data) {
        check(tagmac_range_update(get(), data.data(), data.size()));
        return *this;
    }

    // Ends the range and returns its partial.
    bytes seal() {
        return detail::sized([this](std::uint8_t *out, std::size_t room, std::size_t *size) {
            return tagmac_range_seal(get(), out, room, size);
        });
    }

    tagmac_range *get() const noexcept { return held_.get(); }

private:
    detail::holder<tagmac_range, tagmac_range_free> held_;
};

// The manifest of a sealed directory.
class manifest {
public:
    manifest(const key &key, const std::string &path) {
        check(tagmac_manifest_open(get(), key.get(), path.c_str()));
    }

    std::uint64_t sequence() const { return tagmac_manifest_sequence(get()); }

    tagmac_manifest *get() const noexcept { return held_.get(); }

private:
    detail::holder<tagmac_manifest, tagmac_manifest_free> held_;
};

// The sealed content of a file, which verifies bytes wherever they come from.
class content {
public:
    content(const manifest &manifest, const std::string &path) {
        check(tagmac_content_init(get(), manifest.get(), path.c_str()));
    }

    std::uint64_t size() const { return tagmac_content_bytes(get()); }
    std::uint64_t leaf() const { return tagmac_content_leaf(get()); }
    void verify(std::uint64_t start, view data) const {
        check(tagmac_content_verify(get(), start, data.data(), data.size()));
    }

    tagmac_content *get() const noexcept { return held_.get(); }

private:
    detail::holder<tagmac_content, tagmac_content_free> held_;
};

// An open file of a sealed directory.
class file {
public:
    file(const manifest &manifest, const std::string &root, const std::string &path) {
        check(tagmac_file_open(get(), manifest.get(), root.c_str(), path.c_str()));
    }

    std::uint64_t size() const { return tagmac_file_bytes(get()); }

    // The verified bytes from `offset` on; fewer only at the end of the file.
    bytes read(std::uint64_t offset, std::size_t size) const {
        const std::uint64_t left = offset < this->size() ? this->size() - offset : 0;
        bytes out(left < size ? static_cast<std::size_t>(left) : size);
        std::size_t read = 0;
        check(tagmac_file_read(get(), out.data(), out.size(), offset, &read));
        out.resize(read);
        return out;
    }

    tagmac_file *get() const noexcept { return held_.get(); }

private:
    detail::holder<tagmac_file, tagmac_file_free> held_;
};

#endif

} // namespace tagmac

#endif // TAGMAC_HPP
